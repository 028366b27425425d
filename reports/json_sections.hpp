#pragma once

#include "core/report.hpp"
#include "reports/json_numbers.hpp"

namespace hot::reports {

// Parts that every JSON report has.

[[nodiscard]] Json tool_json(const Report& report);
[[nodiscard]] Json run_json(const Report& report, JsonNumbers& numbers);
[[nodiscard]] Json environment_json(const Environment& environment);
[[nodiscard]] Json model_json(const ModelInfo& model);

}  // namespace hot::reports
