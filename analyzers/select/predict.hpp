#pragma once

#include <optional>

#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"

namespace hot::select {

/// What the plan should bring, over all eligible layers: cost and saved_fraction (modelled),
/// largest_relative_error and mean_relative_error (as they were measured). The errors are left out
/// where the plan changes nothing, or where the error of a pick wasn't measured.
[[nodiscard]] Metrics predict(const Plan& plan, const Trace& trace, const ErrorTable& errors);

/// Squares of the whole gradient's relative error as the schemes of each path are predicted to
/// cause them.
struct ErrorParts {
  double input = 0;
  double weight = 0;
};
/// nullopt where an error or a share isn't known.
[[nodiscard]] std::optional<ErrorParts> error_parts(const Plan& plan, const Trace& trace,
                                                    const ErrorTable& errors);

}  // namespace hot::select
