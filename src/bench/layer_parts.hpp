#pragma once

#include "bench/contest.hpp"
#include "bench/layer_tensors.hpp"
#include "bench/presets.hpp"

namespace hot::bench {

/// A backward pass by `preset` done step by step, after the layer's forward product, which isn't
/// timed. Its parts: "layout" (a convolution's channels put last, and back), "gy", "weight" and "x"
/// (their preparation; x with its unfolding), "gemm" (the library's integer products), "dequantize"
/// (the rest of these products, with folding).
[[nodiscard]] Contender layer_parts(const LayerTensors& layer, const Preset& preset);

}  // namespace hot::bench
