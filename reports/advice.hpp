#pragma once

#include <string>

#include "core/report.hpp"

namespace hot::reports {

/// What to do next, in a sentence or two for someone who doesn't know the tool.
[[nodiscard]] std::string advice_text(const Report& report);

}  // namespace hot::reports
