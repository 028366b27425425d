#include "plan_match.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"

namespace hot {
namespace {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace

void check_plan_matches(const Plan& plan, const Trace& trace) {
  for (const LayerPlan& planned : plan.layers) {
    const auto layer =
        std::find_if(trace.layers.begin(), trace.layers.end(),
                     [&](const LayerTrace& candidate) { return candidate.name == planned.name; });
    if (layer == trace.layers.end())
      throw UsageError(fmt::format(
          "the plan is for another model: it has layer '{}', this model hasn't", planned.name));
    if (layer->weight_shape != planned.weight_shape)
      throw UsageError(fmt::format(
          "the plan is for another model: the weight of layer '{}' is {} in the plan, {} in this "
          "model",
          planned.name, shape_text(planned.weight_shape), shape_text(layer->weight_shape)));
    for (const Scheme& scheme : {planned.grad_input, planned.grad_weight})
      if (const auto why = why_unresolved(scheme))
        throw UsageError(fmt::format("the plan's scheme {} of layer '{}' can't run: {}",
                                     to_string(scheme), planned.name, *why));
    if (!layer->eligible && !(planned.grad_input.is_exact() && planned.grad_weight.is_exact()))
      throw UsageError(fmt::format("the plan has a scheme for layer '{}', which isn't eligible: {}",
                                   planned.name, layer->reason));
  }
}

}  // namespace hot
