#pragma once

#include <string>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// One sentence about what a reader should know, and the part of a report that shows it.
struct KeyFinding {
  std::string title;     ///< a few words
  std::string sentence;  ///< with numbers, units and origin
  std::string section;   ///< "layers", "errors", "costs" …: an anchor of the HTML report
};

/// What matters most in a report, at most `count` findings: first what failed, then where time and
/// memory go, which gradients are at the bound, what transforms bring, what can't be changed.
[[nodiscard]] std::vector<KeyFinding> key_findings(const Report& report, std::size_t count = 3);

}  // namespace hot::reports
