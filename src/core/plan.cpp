#include "core/plan.hpp"

#include <algorithm>

namespace hot {

const LayerPlan* Plan::find(const std::string& layer) const {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [&](const LayerPlan& l) { return l.name == layer; });
  return found == layers.end() ? nullptr : &*found;
}

bool Plan::all_exact() const {
  return std::all_of(layers.begin(), layers.end(), [](const LayerPlan& l) {
    return l.grad_input.is_exact() && l.grad_weight.is_exact();
  });
}

}  // namespace hot
