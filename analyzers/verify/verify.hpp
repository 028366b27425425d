#pragma once

#include <cstdint>

#include "analyzers/verify/options.hpp"
#include "analyzers/verify/step_run.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/progress.hpp"
#include "core/verification.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::verify {

/// Runs the plan with real kernels inside the running model, beside the exact run (design.md,
/// "Verify"). With options.repair the plan is mended first, at most options.rounds times. `counted`
/// runs the exact step and each planned one that is compared, counting what they hold.
[[nodiscard]] Verification verify(const models::Model& model, const models::Inputs& inputs,
                                  const models::Loss& loss, const Trace& trace, Plan& plan,
                                  const Options& options, const Progress& progress,
                                  const CountedStep& counted = counted_step);

}  // namespace hot::verify
