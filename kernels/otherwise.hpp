#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/backward.hpp"

namespace hot::kernels {

/// True where the backends' passes make the operand by themselves: flat blocks, no format or an
/// integer one, a scale per tensor, row or column.
[[nodiscard]] bool is_plain(const Recipe& recipe);

/// Operands of all other recipes: signs, samples, patches, blocks of scales, simulated formats,
/// and what waits for the other operand.
[[nodiscard]] Operand prepare_otherwise(const at::Tensor& a, const Recipe& recipe);
[[nodiscard]] Operand prepare_otherwise(const RowSource& a, const Recipe& recipe);

}  // namespace hot::kernels
