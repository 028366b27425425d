#pragma once

#include <ATen/core/Tensor.h>

#include "backward/operands.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// True where integer_convolution() serves: integer operands, a stride of 1, sums that int32 holds,
/// and a CPU whose kernels sum products of blocks.
[[nodiscard]] bool convolves_integers(const kernels::Operand& gy, const Window& window);

/// grad_input of a convolution as a convolution of gy's integers with W's, as an image of
/// `x_sizes`: gy [N·positions × O] and W [O × places·C], the channels of each place side by side,
/// both transformed and quantized. Nothing is folded and no unfolded gradient exists (methods.md,
/// section 3: the transform along O commutes with the sum over places). With one scale for each
/// factor sums over places stay integers and are scaled once; else each place's product is scaled
/// and added in the order of the positions. Both to the bit what folded_product() gives. Throws
/// std::logic_error where !convolves_integers().
[[nodiscard]] at::Tensor integer_convolution(const kernels::Operand& gy, const kernels::Operand& w,
                                             const Window& window, at::IntArrayRef x_sizes);

}  // namespace hot::backward
