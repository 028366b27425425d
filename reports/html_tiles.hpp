#pragma once

#include <string>

#include "core/report.hpp"

namespace hot::reports {

/// The large numbers of the HTML report's first screen: of the verification, else of the profile,
/// else of the plan's prediction; empty where there is none of them.
[[nodiscard]] std::string html_tiles(const Report& report);

}  // namespace hot::reports
