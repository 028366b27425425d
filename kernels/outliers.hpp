#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "kernels/backward.hpp"

namespace hot::kernels {

// Outlier extraction (methods.md, section 2): k indices of the contraction leave the low-precision
// product and go through a thin float product, whose result is added.

/// The k indices of the largest magnitudes along the contraction, ascending: gy's, or the other
/// operand's where its largest stands out more from its median. The lower index goes first between
/// equals.
[[nodiscard]] std::vector<std::int64_t> outlier_indices(const at::Tensor& gy_largest,
                                                        const at::Tensor& other_largest, int count);

/// Largest magnitude of each index of the contraction.
[[nodiscard]] at::Tensor largest_along(const at::Tensor& matrix, Along along);

/// The matrix with these indices of the contraction set to zero.
[[nodiscard]] at::Tensor without_indices(const at::Tensor& matrix, Along along,
                                         const std::vector<std::int64_t>& indices);

/// The float product over these indices alone, [free(gy), free(other)].
[[nodiscard]] at::Tensor thin_product(const at::Tensor& gy, Along along, const at::Tensor& other,
                                      const std::vector<std::int64_t>& indices);

/// The recipe of an operand of a scheme with outliers: all is left to multiply().
[[nodiscard]] Recipe deferred_recipe(Along along, const Scheme& scheme, std::uint64_t seed);

/// The whole of it for two operands that were deferred.
[[nodiscard]] at::Tensor multiply_without_outliers(const Operand& gy, const Operand& other);

}  // namespace hot::kernels
