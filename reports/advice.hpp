#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// What to do next, in a sentence or two for someone who doesn't know the tool.
[[nodiscard]] std::string advice_text(const Report& report);

/// Commands that carry the advice out, each with what it does; empty where there is nothing to do.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> next_commands(const Report& report);

}  // namespace hot::reports
