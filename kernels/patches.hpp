#pragma once

#include <ATen/core/Tensor.h>

#include "core/transform.hpp"

namespace hot::kernels {

// Rows (tokens, pixels) of samples as images, projected in n × n patches onto their lowest Walsh
// functions (LBP-WHT, Yang et al.: "Efficient low-rank backpropagation for vision transformer
// adaptation", NeurIPS 2023). The functions are orthonormal, in the order of i + j of their
// sequencies, then of i. Grids are padded to whole patches with zeros; rows of no place stay as
// they are, in front of their sample's.

/// P·rows of a [samples·(prefix + height·width) × c] matrix: [samples·(prefix + patches·rank) × c].
/// Throws std::logic_error where the rows are no whole samples of the grid.
[[nodiscard]] at::Tensor projected(const at::Tensor& rows, const Transform& transform);

/// PᵀP·rows: what is left of the rows, as many as before.
[[nodiscard]] at::Tensor low_passed(const at::Tensor& rows, const Transform& transform);

}  // namespace hot::kernels
