#pragma once

#include <vector>

#include "analyzers/select/optimize.hpp"
#include "core/plan.hpp"

namespace hot::select {

/// Why each gradient got its scheme: with all other picks as they are, the next best scheme that
/// keeps the limits, how much more the plan's objective would be (margin), and where a scheme that
/// would be better is barred by a limit, that one.
[[nodiscard]] std::vector<Why> reasons(const WholePlan& whole, const Bounds& bounds,
                                       const std::string& objective, const Solution& solution);

}  // namespace hot::select
