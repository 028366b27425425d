#include "kernels/backward.hpp"

#include <ATen/ATen.h>

#include <stdexcept>
#include <string>

#include "kernels/integer_gemm.hpp"

namespace hot::kernels {
namespace {

/// The granularity whose scale varies along the contracted dimension.
Granularity along_contraction(Along along) {
  return along == Along::rows ? Granularity::row : Granularity::column;
}

void check_granularity(Format format, Granularity granularity, Along along) {
  if (format != Format::none && granularity == along_contraction(along))
    throw std::logic_error(
        std::string(along == Along::rows ? "a scale per row" : "a scale per column") +
        " varies along the contracted dimension: no single integer GEMM can take it out");
}

void check_pair(const Operand& a, const Operand& b) {
  if (a.transform != b.transform) throw std::logic_error("the operands' transforms differ");
  if (a.format != b.format) throw std::logic_error("the operands' formats differ");
  check_granularity(a.format, a.granularity, a.along);
  check_granularity(b.format, b.granularity, b.along);
}

/// Contracted dimension last (as the left factor of a product) or first (as the right one); views.
at::Tensor as_left(const Operand& o) {
  return o.along == Along::cols ? o.values : o.values.t();
}
at::Tensor as_right(const Operand& o) {
  return o.along == Along::rows ? o.values : o.values.t();
}

at::Tensor float_product(const at::Tensor& left, const at::Tensor& right, float factor) {
  at::Tensor product = at::mm(left, right);
  return factor == 1.0F ? product : product.mul_(factor);
}

/// The operand that isn't gy; it rounds to nearest.
template <class Matrix>
Operand prepare_other(const Matrix& other, const Scheme& scheme) {
  check_granularity(scheme.format, scheme.other, Along::rows);
  return prepare(other, Along::rows, scheme.transform, scheme.format, scheme.other,
                 Rounding::nearest, 0);
}

}  // namespace

at::Tensor multiply(const Operand& a, const Operand& b) {
  const at::AutoDispatchBelowAutograd no_autograd;
  check_pair(a, b);
  const at::Tensor left = as_left(a);
  const at::Tensor right = as_right(b);
  if (left.size(1) != right.size(0))
    throw std::logic_error("the operands' contracted lengths differ: " +
                           std::to_string(left.size(1)) + " and " + std::to_string(right.size(0)));
  const float factor = 1.0F / static_cast<float>(a.transform.order);
  if (a.format == Format::none) return float_product(left, right, factor);
  return scaled_integer_product(integer_route().route, left, right, max_level(a.format), factor,
                                a.scales, b.scales);
}

Operand prepare_gy(const at::Tensor& gy, Along along, const Scheme& scheme, std::uint64_t seed) {
  check_granularity(scheme.format, scheme.granularity, along);
  return prepare(gy, along, scheme.transform, scheme.format, scheme.granularity, scheme.rounding,
                 seed);
}

Operand prepare_w(const at::Tensor& w, const Scheme& scheme) {
  return prepare_other(w, scheme);
}

Operand rows_of(const Operand& operand, std::int64_t first, std::int64_t count) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (operand.along != Along::cols) throw std::logic_error("these rows are contracted");
  Operand part = operand;
  part.values = operand.values.narrow(0, first, count);
  if (operand.granularity == Granularity::row && operand.scales.defined())
    part.scales = operand.scales.narrow(0, first, count);
  return part;
}

at::Tensor grad_input(const at::Tensor& gy, const at::Tensor& w, const Scheme& scheme,
                      std::uint64_t seed) {
  return multiply(prepare_gy(gy, Along::cols, scheme, seed), prepare_w(w, scheme));
}

at::Tensor grad_weight(const at::Tensor& gy, const at::Tensor& x, const Scheme& scheme,
                       std::uint64_t seed) {
  return grad_weight(gy, prepare_x(x, scheme), scheme, seed);
}

Operand prepare_x(const at::Tensor& x, const Scheme& scheme) {
  return prepare_other(x, scheme);
}

Operand prepare_x(const RowSource& x, const Scheme& scheme) {
  return prepare_other(x, scheme);
}

at::Tensor grad_weight(const at::Tensor& gy, const Operand& x, const Scheme& scheme,
                       std::uint64_t seed) {
  return multiply(prepare_gy(gy, Along::rows, scheme, seed), x);
}

}  // namespace hot::kernels
