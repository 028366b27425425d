#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/backward.hpp"

namespace hot::kernels {

/// The product of two integer operands of which one at least has Granularity::block: an integer
/// product for each block of the contraction, scaled and added in float32 in their order.
[[nodiscard]] at::Tensor multiply_by_blocks(const Operand& a, const Operand& b);

/// The same operand with its numbers level · scale as floats.
[[nodiscard]] Operand as_floats(const Operand& operand);

}  // namespace hot::kernels
