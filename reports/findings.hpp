#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// Everything that the stages noted, one sentence each; the same note of several layers once, with
/// their names.
[[nodiscard]] std::vector<std::string> findings(const Report& report);

/// What was run on what: pairs of a word ("machine") and its text, empty ones left out.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_facts(
    const Report& report);

}  // namespace hot::reports
