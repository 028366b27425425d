#pragma once

#include "core/plan.hpp"
#include "reports/json_numbers.hpp"

namespace hot::reports {

/// The plan as it stands in a report and in a plan file: policy, layers, predicted, and
/// front and notes where there are any.
[[nodiscard]] Json plan_json(const Plan& plan, JsonNumbers& numbers);

}  // namespace hot::reports
