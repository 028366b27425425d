#include "kernels/backward.hpp"

#include <ATen/ATen.h>

#include <stdexcept>
#include <string>

#include "kernels/common/formats.hpp"
#include "kernels/device_operand.hpp"
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

std::int64_t contracted_length(const Operand& o) {
  const MatrixSize size = size_of(o);
  return o.along == Along::cols ? size.cols : size.rows;
}

void check_pair(const Operand& a, const Operand& b) {
  if (a.transform != b.transform) throw std::logic_error("the operands' transforms differ");
  if (a.format != b.format) throw std::logic_error("the operands' formats differ");
  check_granularity(a.format, a.granularity, a.along);
  check_granularity(b.format, b.granularity, b.along);
  if (contracted_length(a) != contracted_length(b))
    throw std::logic_error(
        "the operands' contracted lengths differ: " + std::to_string(contracted_length(a)) +
        " and " + std::to_string(contracted_length(b)));
}

/// Contracted dimension last (as the left factor of a product) or first (as the right one); views.
at::Tensor as_left(const Operand& o) {
  const at::Tensor matrix = matrix_of(o);
  return o.along == Along::cols ? matrix : matrix.t();
}
at::Tensor as_right(const Operand& o) {
  const at::Tensor matrix = matrix_of(o);
  return o.along == Along::rows ? matrix : matrix.t();
}

at::Tensor float_product(const at::Tensor& left, const at::Tensor& right, float factor) {
  at::Tensor product = at::mm(left, right);
  return factor == 1.0F ? product : product.mul_(factor);
}

/// The right factor, packed where the route reads it so.
Packed packed_right(const Operand& o) {
  if (o.packed && o.along == Along::rows) return {o.values, o.packed->rows, o.packed->cols};
  return pack(as_right(o));
}

/// Where the right factors of the products lie best.
Order right_order() {
  return integer_route().route == IntegerRoute::brgemm ? Order::packed : Order::rows;
}

template <class Matrix>
Operand prepare_one(const Matrix& matrix, const Recipe& recipe) {
  return std::move(prepare_all(matrix, std::span(&recipe, 1)).front());
}

}  // namespace

at::Tensor multiply(const Operand& a, const Operand& b) {
  const at::AutoDispatchBelowAutograd no_autograd;
  check_pair(a, b);
  const float factor = 1.0F / static_cast<float>(a.transform.order);
  if (a.format == Format::none) return float_product(as_left(a), as_right(b), factor);
  if (const auto* device = backend_of(a.values.device()))
    return device_product(*device, a, b, factor);
  const int level = max_level(a.format);
  const IntegerRoute route = integer_route().route;
  if (route == IntegerRoute::brgemm && contracted_length(a) <= exact_terms(level, 31))
    return scaled_packed_product(as_left(a), packed_right(b), factor, a.scales, b.scales);
  return scaled_integer_product(route == IntegerRoute::brgemm ? IntegerRoute::int_mm : route,
                                as_left(a), as_right(b), level, factor, a.scales, b.scales);
}

at::Tensor integer_sums(const Operand& a, const Operand& b) {
  const at::AutoDispatchBelowAutograd no_autograd;
  check_pair(a, b);
  if (const auto* device = backend_of(a.values.device())) return device_sums(*device, a, b);
  const int level = max_level(a.format);
  const IntegerRoute route = integer_route().route;
  if (a.format == Format::none || contracted_length(a) > exact_terms(level, 31))
    throw std::logic_error("int32 holds no sums of this product");
  if (route == IntegerRoute::brgemm) return packed_integer_product(as_left(a), packed_right(b));
  return integer_gemm_by(route, as_left(a), as_right(b), level);
}

Recipe gy_recipe(Path path, const Scheme& scheme, std::uint64_t seed) {
  const Along along = path == Path::grad_input ? Along::cols : Along::rows;
  check_granularity(scheme.format, scheme.granularity, along);
  return {along,
          scheme.transform,
          scheme.format,
          scheme.granularity,
          scheme.rounding,
          seed,
          path == Path::grad_input ? Order::rows : Order::columns};
}

Recipe other_recipe(const Scheme& scheme) {
  check_granularity(scheme.format, scheme.other, Along::rows);
  return {Along::rows, scheme.transform, scheme.format, scheme.other, Rounding::nearest,
          0,           right_order()};
}

Operand prepare_gy(const at::Tensor& gy, Path path, const Scheme& scheme, std::uint64_t seed) {
  return prepare_one(gy, gy_recipe(path, scheme, seed));
}

Operand prepare_w(const at::Tensor& w, const Scheme& scheme) {
  return prepare_one(w, other_recipe(scheme));
}

Operand rows_of(const Operand& operand, std::int64_t first, std::int64_t count) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (operand.along != Along::cols || operand.packed)
    throw std::logic_error("these rows are contracted or packed");
  if (operand.layout) return free_part(operand, first, count);
  Operand part = operand;
  part.values = operand.values.narrow(0, first, count);
  if (operand.granularity == Granularity::row && operand.scales.defined())
    part.scales = operand.scales.narrow(0, first, count);
  return part;
}

at::Tensor grad_input(const at::Tensor& gy, const at::Tensor& w, const Scheme& scheme,
                      std::uint64_t seed) {
  return multiply(prepare_gy(gy, Path::grad_input, scheme, seed), prepare_w(w, scheme));
}

at::Tensor grad_weight(const at::Tensor& gy, const at::Tensor& x, const Scheme& scheme,
                       std::uint64_t seed) {
  return grad_weight(gy, prepare_x(x, scheme), scheme, seed);
}

Operand prepare_x(const at::Tensor& x, const Scheme& scheme) {
  return prepare_one(x, other_recipe(scheme));
}

Operand prepare_x(const RowSource& x, const Scheme& scheme) {
  return prepare_one(x, other_recipe(scheme));
}

at::Tensor grad_weight(const at::Tensor& gy, const Operand& x, const Scheme& scheme,
                       std::uint64_t seed) {
  return multiply(prepare_gy(gy, Path::grad_weight, scheme, seed), x);
}

}  // namespace hot::kernels
