#pragma once

#include <string>

#include "core/plan.hpp"

namespace hot::reports {

/// The front of a plan as two SVG charts, error against time and against saved bytes, the marks
/// named; nothing without a front.
[[nodiscard]] std::string front_svg(const Plan& plan);

}  // namespace hot::reports
