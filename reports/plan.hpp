#pragma once

#include <string>
#include <string_view>

#include "core/plan.hpp"

namespace hot::reports {

inline constexpr std::string_view kPlanSchema = "hot-analyze.plan.v1";

/// The plan as JSON, schema hot-analyze.plan.v1 (reports/schema/plan.v1.json).
[[nodiscard]] std::string write_plan(const Plan& plan);

/// Reads what write_plan() wrote, or a person did. `where` names the source in messages, e.g. the
/// file's name. Throws UsageError with the JSON path of the part that is wrong: no JSON, another
/// schema, an unknown, missing or repeated key, a wrong type, a scheme that doesn't exist or is
/// illegal on its path, a layer that stands twice.
[[nodiscard]] Plan read_plan(std::string_view text, const std::string& where);

}  // namespace hot::reports
