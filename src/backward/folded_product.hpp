#pragma once

#include <ATen/core/Tensor.h>

#include "backward/window_runs.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// grad_input of a convolution from its operands: gy [N·positions × O] and W [O × places·C], both
/// transformed and quantized, multiplied and folded onto the pixels, [N·pixels × C]. The unfolded
/// gradient exists a few rows at a time where it is large. The sums over places run in the order of
/// the positions, whatever the threads.
[[nodiscard]] at::Tensor folded_product(const kernels::Operand& gy, const kernels::Operand& w,
                                        const WindowRuns& runs);

}  // namespace hot::backward
