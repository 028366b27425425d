#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "backward/operands.hpp"

namespace hot::backward {

/// im2col in any number of spatial dimensions: [N, C, *in] → [N·∏positions, C·∏kernel], columns
/// ordered (c, k₀, k₁ …) as a reshaped convolution weight is. `positions` are the kernel's places
/// along each spatial dimension. One copy.
[[nodiscard]] at::Tensor unfold(const at::Tensor& image, const Window& window,
                                at::IntArrayRef positions);

/// The adjoint of unfold(): adds every column back where it was read, [N·∏positions, C·∏kernel] →
/// [N, C, *in].
[[nodiscard]] at::Tensor fold(const at::Tensor& columns, const Window& window,
                              at::IntArrayRef image_sizes, at::IntArrayRef positions);

}  // namespace hot::backward
