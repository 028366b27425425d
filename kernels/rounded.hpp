#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/backward.hpp"

namespace hot::kernels {

// What recipes that the passes don't know make of a matrix that is transformed already (float32,
// contiguous, by rows): formats that are simulated, and scales for blocks of the contraction.

/// Scale of a group of the format by its largest magnitude; of a format with blocks of its own the
/// part that they share.
[[nodiscard]] float group_scale(Format format, float largest);

/// Scales of every granularity: [1], [rows], [cols], or [contracted length] for block<k>, where the
/// indices of a block have the same. Of a format with blocks of its own the part that they share.
[[nodiscard]] at::Tensor scales_of(const at::Tensor& transformed, const Recipe& recipe);

/// The scales of block<k> by the largest magnitude of each index of the contraction.
[[nodiscard]] at::Tensor block_scales(const at::Tensor& largest, Format format, int block);

/// The operand with these scales: levels of an integer format, else rounded floats. Stochastic
/// rounding draws as the integer formats do: sixteen bits of Philox for each element, counted row
/// by row.
[[nodiscard]] Operand rounded(const at::Tensor& transformed, const Recipe& recipe,
                              const at::Tensor& scales);

/// Variance of each element's stochastic rounding, [rows, cols].
[[nodiscard]] at::Tensor rounding_variance(const at::Tensor& transformed, const Recipe& recipe,
                                           const at::Tensor& scales);

}  // namespace hot::kernels
