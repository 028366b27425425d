#pragma once

#include <ATen/core/Tensor.h>

namespace hot::backward {

/// [N, C, *spatial] → [N·∏spatial, C]: one row a pixel. A view where the channels already come
/// last, else one copy, blocked for float32.
[[nodiscard]] at::Tensor pixel_rows(const at::Tensor& image);

/// The way back: [N·∏spatial, C] → [N, C, *spatial], contiguous; `sizes` are the image's.
[[nodiscard]] at::Tensor image_of_pixel_rows(const at::Tensor& rows, at::IntArrayRef sizes);

}  // namespace hot::backward
