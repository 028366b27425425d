#include "kernels/backward.hpp"

#include <ATen/ATen.h>

#include <stdexcept>
#include <string>

#include "kernels/block_product.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/device_operand.hpp"
#include "kernels/fp8_formats.hpp"
#include "kernels/integer_gemm.hpp"
#include "kernels/outliers.hpp"

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
  if (a.deferred) return multiply_without_outliers(a, b);
  check_pair(a, b);
  const float factor = 1.0F / static_cast<float>(a.transform.order);
  if (is_fp8(a.format) && is_fp8(b.format))  // bytes on a device
    return device_fp8_product(*backend_of(a.values.device()), a, b, factor);
  if (a.format != b.format) return multiply(as_floats(a), as_floats(b));
  if (a.block > 0 || b.block > 0) return multiply_by_blocks(a, b);
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
  if (a.format == Format::none || a.format != b.format || a.block > 0 || b.block > 0 ||
      contracted_length(a) > exact_terms(level, 31))
    throw std::logic_error("int32 holds no sums of this product");
  if (route == IntegerRoute::brgemm) return packed_integer_product(as_left(a), packed_right(b));
  return integer_gemm_by(route, as_left(a), as_right(b), level);
}

Recipe gy_recipe(Path path, const Scheme& scheme, std::uint64_t seed) {
  const Along along = path == Path::grad_input ? Along::cols : Along::rows;
  check_granularity(scheme.format, scheme.granularity, along);
  if (scheme.outliers > 0) return deferred_recipe(along, scheme, seed);
  Recipe recipe{along,
                scheme.transform,
                scheme.format,
                scheme.granularity,
                scheme.rounding,
                seed,
                path == Path::grad_input ? Order::rows : Order::columns};
  recipe.block = scheme.block;
  recipe.as_floats = is_simulated(scheme);
  return recipe;
}

Recipe other_recipe(const Scheme& scheme) {
  check_granularity(scheme.format_of_other(), scheme.other, Along::rows);
  if (scheme.outliers > 0) return deferred_recipe(Along::rows, scheme, 0);
  Recipe recipe{Along::rows,
                scheme.transform,
                scheme.format_of_other(),
                scheme.other,
                Rounding::nearest,
                0,
                is_simulated(scheme) ? Order::rows : right_order()};
  recipe.block = scheme.block;
  return recipe;
}

Operand form_of_x(const Scheme& scheme) {
  const Recipe recipe = other_recipe(scheme);
  Operand operand;
  operand.along = Along::rows;
  if (recipe.transform.kind != Transform::Kind::patch)
    operand.transform = flat_transform(recipe.transform);
  if (is_integer(recipe.format)) {
    operand.format = recipe.format;
    operand.granularity = recipe.granularity;
    operand.block = recipe.granularity == Granularity::block ? recipe.block : 0;
  }
  return operand;
}

Operand prepare_gy(const at::Tensor& gy, Path path, const Scheme& scheme, std::uint64_t seed) {
  return prepare_one(gy, gy_recipe(path, scheme, seed));
}

Operand prepare_w(const at::Tensor& w, const Scheme& scheme) {
  Recipe recipe = other_recipe(scheme);
  if (recipe.transform.kind == Transform::Kind::patch) recipe.transform = {};  // of rows alone
  return prepare_one(w, recipe);
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
