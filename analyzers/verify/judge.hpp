#pragma once

#include <string>

#include "analyzers/verify/gradients.hpp"
#include "analyzers/verify/step_run.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/verification.hpp"

namespace hot::verify {

/// Largest deviation of an integer product from the same integers in double that float32 scaling
/// explains.
inline constexpr double kKernelTolerance = 1e-5;
/// The same of products of FP8 numbers, whose sums tensor cores keep in fewer bits than float32.
inline constexpr double kFp8Tolerance = 1e-2;

/// Largest relative error of all gradients together when layers are replaced but stay exact.
inline constexpr double kSelfCheckTolerance = 2e-6;

/// Counts the products that the plan changes against those that the trace says there are, and gives
/// the layer's outcome. `layer.metrics` must hold the times and saved bytes already.
void judge_layer(LayerVerification& layer, const LayerTrace& trace, const LayerPlan& plan,
                 const backward::LayerRuns* runs, const GradientComparison& gradient);

/// The whole plan's outcome from its layers' and the totals. `missed`: the limit that the plan
/// misses, as a phrase; empty where it keeps all.
void judge_total(Verification& verification, const std::string& missed);

}  // namespace hot::verify
