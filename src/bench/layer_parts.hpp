#pragma once

#include "bench/contest.hpp"
#include "bench/layer_tensors.hpp"
#include "bench/presets.hpp"

namespace hot::bench {

/// A backward pass by `preset` done step by step, after the layer's forward product, which isn't
/// timed. Its parts: "layout" (a convolution's unfolding and folding, its channels put last), "gy",
/// "weight" and "x" (their preparation), "gemm" (the integer products), "dequantize". Where the
/// real pass does several steps at once, the parts sum to more than it takes.
[[nodiscard]] Contender layer_parts(const LayerTensors& layer, const Preset& preset);

}  // namespace hot::bench
