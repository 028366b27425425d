#pragma once

#include <ATen/core/Tensor.h>

#include "backward/window_runs.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// True where the sums over a kernel's places are sums of integers with one scale, which int32
/// holds.
[[nodiscard]] bool sums_stay_integers(const kernels::Operand& gy, const kernels::Operand& w,
                                      std::int64_t places);

/// grad_input of a convolution from its operands: gy [N·positions × O] and W [O × places·C], both
/// transformed and quantized, multiplied and folded onto the pixels, [N·pixels × C]. The unfolded
/// gradient exists a few rows at a time where it is large. Sums over places are integers, scaled
/// once, where sums_stay_integers(); else floats, added in the order of the positions, whatever the
/// threads.
[[nodiscard]] at::Tensor folded_product(const kernels::Operand& gy, const kernels::Operand& w,
                                        const WindowRuns& runs);

}  // namespace hot::backward
