#pragma once

#include <cstdint>
#include <string_view>

#include "core/gemm_shape.hpp"

namespace hot {

// The seeds of stochastic rounding, defined here alone, so that a run repeats to the bit wherever
// its layers run: in the verification, in `hot-analyze train`, or in a PyTorch program through
// libhot_ops.so. They depend on names and counts, never on addresses, threads, or the order of
// parameters.

/// Of one layer in a run: `run` is the run's seed, `layer` the layer's name in the plan.
[[nodiscard]] std::uint64_t layer_seed(std::uint64_t run, std::string_view layer);

/// Of one backward product: the layer's `count`-th on this path since the run began (in training
/// with one call of the layer a step, the step).
[[nodiscard]] std::uint64_t product_seed(std::uint64_t layer, Path path, std::int64_t count);

}  // namespace hot
