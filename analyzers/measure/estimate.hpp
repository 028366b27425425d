#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "analyzers/measure/product.hpp"
#include "kernels/backward.hpp"

namespace hot::measure {

/// The scales of a transformed part by `recipe`, with the recipe's own transform: of the whole
/// factor
/// (`maxima`) for one scale per tensor or block, else local to the part's own rows or columns,
/// which is the same. Undefined without a format.
[[nodiscard]] at::Tensor part_scales(const Maxima& maxima, const at::Tensor& transformed,
                                     const kernels::Recipe& recipe);

/// The compared block of the gradient, [rows × cols] float32, from both prepared parts.
[[nodiscard]] at::Tensor estimate(const Product& product, const kernels::Operand& gy,
                                  const kernels::Operand& other);

/// The same from the untransformed parts, in float32: what the estimates are compared with.
[[nodiscard]] at::Tensor exact_block(const Product& product);

/// Σ_j col_weight_j·B_kj² of the other factor's prepared part for each index k of the contraction,
/// in the order of gy's (place, then index along O), the squared factor of the product applied.
[[nodiscard]] std::vector<double> contraction_energy(const Product& product,
                                                     const kernels::Operand& other);

/// E‖(Q(A)−A)B‖² = Σ_ik s²f(1−f)_ik‖B_k·‖² for stochastic rounding of gy's transformed part, each
/// row weighted (methods.md, section 4); of other formats than integers the variance between the
/// neighbouring numbers in place of s²f(1−f). `energy` is contraction_energy().
[[nodiscard]] double rounding_noise(const Product& product, const at::Tensor& transformed_gy,
                                    const at::Tensor& scales, const kernels::Recipe& recipe,
                                    const std::vector<double>& energy);

}  // namespace hot::measure
