#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/backward.hpp"

namespace hot::kernels {

/// The sign of an index of the contraction in front of a randomised Hadamard transform: bit (i mod
/// 128) of Philox4x32-10 with counter i div 128 and a key of its own. The same for both operands,
/// in every run: what forward keeps and what backward makes must agree, and a plan means one thing.
[[nodiscard]] float rht_sign(std::int64_t index);

/// True where a transform is more than flat blocks: signs, or samples that are no multiple of n.
[[nodiscard]] bool adapts_rows(const Transform& transform);

/// The rows of a matrix as flat_transform(transform) is to meet them: signs applied along the
/// contraction, zeros between samples. Made when they are needed; `in` must live as long.
[[nodiscard]] RowSource adapted_rows(const RowSource& in, Along along, const Transform& transform);

/// The rows of a float32 matrix of any strides, copied when they are needed.
[[nodiscard]] RowSource rows_of_matrix(const at::Tensor& a);

}  // namespace hot::kernels
