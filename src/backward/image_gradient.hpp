#pragma once

#include <ATen/core/Tensor.h>

#include "backward/window_runs.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// grad_input of an ordinary convolution as an image of `x_sizes`, from gy [N·positions × O] and W
/// [O × places·C], both transformed and quantized: a convolution of integers where the CPU and the
/// scales allow it, else a product that is folded. `runs`: where the window reads; null for a
/// trivial one.
[[nodiscard]] at::Tensor image_gradient(const kernels::Operand& gy, const kernels::Operand& w,
                                        const Window& window, const WindowRuns* runs,
                                        at::IntArrayRef x_sizes);

}  // namespace hot::backward
