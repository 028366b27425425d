#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "kernels/backward.hpp"

namespace hot::backward {

/// [N, C, *spatial] → [N·∏spatial, C]: one row a pixel. A view where the channels already come
/// last, else one copy, blocked for float32.
[[nodiscard]] at::Tensor pixel_rows(const at::Tensor& image);

/// Operands of the pixel rows of a float32 image, each as kernels::prepare_all() makes it: read in
/// place where the channels already come last, else turned a few rows at a time in cache.
[[nodiscard]] std::vector<kernels::Operand> prepare_pixel_rows(
    const at::Tensor& image, std::span<const kernels::Recipe> recipes);

/// The way back: [N·∏spatial, C] → [N, C, *spatial], contiguous; `sizes` are the image's.
[[nodiscard]] at::Tensor image_of_pixel_rows(const at::Tensor& rows, at::IntArrayRef sizes);

}  // namespace hot::backward
