#pragma once

#include <cstdint>

#include "analyzers/verify/options.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/progress.hpp"
#include "core/verification.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::verify {

/// Runs the plan with real kernels inside the running model, beside the exact run (design.md,
/// "Verify"). With options.repair the plan is mended first, at most options.rounds times.
[[nodiscard]] Verification verify(const models::Model& model, const models::Inputs& inputs,
                                  const models::Loss& loss, const Trace& trace, Plan& plan,
                                  const Options& options, const Progress& progress);

}  // namespace hot::verify
