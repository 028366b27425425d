#include "analyzers/verify/drop_slower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hot::verify {
namespace {

void leave_exact(Scheme& scheme, Why& why, double speedup) {
  if (scheme.is_exact()) return;
  why = {to_string(scheme), speedup > 0 ? 1 / speedup - 1 : 0,
         fmt::format("the layer's planned backward was measured at {:.2f} times the exact speed",
                     speedup)};
  scheme = {};
}

}  // namespace

std::vector<std::string> drop_slower(Plan& plan, const std::vector<LayerVerification>& layers) {
  std::vector<std::string> dropped;
  for (LayerPlan& layer : plan.layers) {
    const auto seen = std::find_if(layers.begin(), layers.end(),
                                   [&](const auto& v) { return v.name == layer.name; });
    if (seen == layers.end() || seen->outcome != Outcome::slower) continue;
    const double speedup = seen->metrics.value("speedup");
    if (speedup >= kClearlySlower) continue;
    leave_exact(layer.grad_input, layer.why_grad_input, speedup);
    leave_exact(layer.grad_weight, layer.why_grad_weight, speedup);
    dropped.push_back(layer.name);
  }
  return dropped;
}

}  // namespace hot::verify
