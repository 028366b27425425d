#pragma once

#include "core/layer_trace.hpp"
#include "core/plan.hpp"

namespace hot {

/// Refuses a plan that was made for another model: throws UsageError naming the first of its layers
/// that the model lacks, that has another weight shape there, or that isn't eligible. Layers that
/// the plan leaves out stay exact.
void check_plan_matches(const Plan& plan, const Trace& trace);

}  // namespace hot
