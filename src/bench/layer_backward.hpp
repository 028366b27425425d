#pragma once

#include <vector>

#include "bench/contest.hpp"
#include "bench/layer_tensors.hpp"

namespace hot::bench {

/// The backward pass of one layer, both gradients: "fp32" and "bf16" by torch's autograd, then
/// every preset by name. What a preset's forward spends on preparing x is added to its time.
[[nodiscard]] std::vector<Contender> layer_backward(const LayerTensors& layer);

}  // namespace hot::bench
