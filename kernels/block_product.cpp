#include "kernels/block_product.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

namespace hot::kernels {
namespace {

std::int64_t contracted_dim(const Operand& operand) {
  return operand.along == Along::cols ? 1 : 0;
}

/// Indices [first, first + count) of the contraction, which have one scale.
Operand part_of(const Operand& operand, std::int64_t first, std::int64_t count) {
  Operand part = operand;
  part.values = operand.values.narrow(contracted_dim(operand), first, count);
  if (operand.granularity != Granularity::block) return part;
  part.scales = operand.scales.narrow(0, first, 1).contiguous();
  part.granularity = Granularity::tensor;
  part.block = 0;
  return part;
}

Operand unpacked_form(const Operand& operand) {
  Operand plain = operand;
  plain.values = matrix_of(operand);
  plain.packed.reset();
  return plain;
}

}  // namespace

at::Tensor multiply_by_blocks(const Operand& a, const Operand& b) {
  const std::int64_t block = std::max(a.block, b.block);
  if (a.block > 0 && b.block > 0 && a.block != b.block)
    throw std::logic_error("the operands' blocks differ in length");
  const Operand left = unpacked_form(a);
  const Operand right = unpacked_form(b);
  const std::int64_t length = left.values.size(contracted_dim(left));
  at::Tensor sum;
  for (std::int64_t first = 0; first < length; first += block) {
    const std::int64_t count = std::min(block, length - first);
    const at::Tensor product = multiply(part_of(left, first, count), part_of(right, first, count));
    if (sum.defined())
      sum.add_(product);
    else
      sum = product;
  }
  if (sum.defined()) return sum;
  return at::zeros(
      {left.values.size(1 - contracted_dim(left)), right.values.size(1 - contracted_dim(right))},
      at::kFloat);
}

Operand as_floats(const Operand& operand) {
  return {dequantized(operand), {},           operand.along,
          operand.transform,    Format::none, Granularity::tensor};
}

}  // namespace hot::kernels
