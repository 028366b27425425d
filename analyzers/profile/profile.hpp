#pragma once

#include "analyzers/profile/batches.hpp"
#include "analyzers/profile/options.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"
#include "core/progress.hpp"

namespace hot::profile {

/// Where the step's time and memory go, exact and, with a plan, by the plan's kernels; and where
/// they would go with other batches or devices. `step` gets the observed exact step if it is given.
/// Fills `result` as its parts end.
void profile(const verify::StepSetting& setting, const Trace& trace, const Plan* plan,
             const BatchMaker& maker, const Options& options, const Progress& progress,
             Profile& result, StepTrace* step = nullptr);

}  // namespace hot::profile
