#include "kernels/integer_gemm.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/backward.hpp"
#include "kernels/common/formats.hpp"

namespace hot::kernels {
namespace {

void check_factors(const at::Tensor& a, const at::Tensor& b) {
  if (a.dim() != 2 || b.dim() != 2 || a.size(1) != b.size(0) || a.scalar_type() != at::kChar ||
      b.scalar_type() != at::kChar)
    throw std::logic_error("an integer product takes int8 [m, k] and int8 [k, n]");
}

/// The same matrix with the strides of a contiguous one where a size of 1 leaves them open: oneDNN
/// takes such a stride at its word and gives wrong integers.
at::Tensor with_plain_strides(const at::Tensor& a) {
  if (a.size(0) != 1 && a.size(1) != 1) return a;
  return a.contiguous().as_strided(a.sizes(), {a.size(1), 1});
}

/// Elements a thread scales or adds at once.
constexpr std::int64_t kGrain = 65536;

/// a·b in float32, for k short enough to be exact.
at::Tensor float_mm(const at::Tensor& a, const at::Tensor& b) {
  return at::mm(a.to(at::kFloat), b.to(at::kFloat));
}

void add_integers(const at::Tensor& part, const at::Tensor& sum) {
  const float* from = part.const_data_ptr<float>();
  std::int32_t* to = sum.mutable_data_ptr<std::int32_t>();
  at::parallel_for(0, sum.numel(), kGrain, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) to[i] += static_cast<std::int32_t>(from[i]);
  });
}

/// Partial products over at most `most` terms each, of nearly equal length.
template <class Use>
void over_contraction(const at::Tensor& a, const at::Tensor& b, std::int64_t most, const Use& use) {
  const std::int64_t k = a.size(1);
  const std::int64_t parts = (k + most - 1) / most;
  for (std::int64_t i = 0; i < parts; ++i) {
    const std::int64_t begin = k * i / parts;
    const std::int64_t length = k * (i + 1) / parts - begin;
    use(a.narrow(1, begin, length), b.narrow(0, begin, length));
  }
}

at::Tensor float_route(const at::Tensor& a, const at::Tensor& b, int largest) {
  const std::int64_t most = exact_terms(largest, 24);
  if (a.size(1) <= most) return float_mm(a, b).to(at::kInt);
  at::Tensor sum = at::zeros({a.size(0), b.size(1)}, at::kInt);
  over_contraction(a, b, most, [&](const at::Tensor& left, const at::Tensor& right) {
    add_integers(float_mm(left, right), sum);
  });
  return sum;
}

/// Exact sums that int32 can't hold: int32 products of parts, added in float64 (exact below 2^53),
/// rounded once.
at::Tensor long_product(IntegerRoute route, const at::Tensor& a, const at::Tensor& b, int largest) {
  at::Tensor sum = at::zeros({a.size(0), b.size(1)}, at::kDouble);
  over_contraction(a, b, exact_terms(largest, 31),
                   [&](const at::Tensor& left, const at::Tensor& right) {
                     sum.add_(integer_gemm_by(route, left, right, largest));
                   });
  return sum.to(at::kFloat);
}

/// Calls scale(first row, number of rows) from several threads.
template <class Scale>
void over_rows(std::int64_t rows, std::int64_t cols, const Scale& scale) {
  const std::int64_t grain = 1 + kGrain / std::max<std::int64_t>(cols, 1);
  at::parallel_for(0, rows, grain,
                   [&](std::int64_t begin, std::int64_t end) { scale(begin, end - begin); });
}

}  // namespace

at::Tensor integer_gemm_by(IntegerRoute route, const at::Tensor& a, const at::Tensor& b,
                           int largest) {
  const at::AutoDispatchBelowAutograd no_autograd;
  check_factors(a, b);
  if (a.size(1) > exact_terms(largest, 31))
    throw std::logic_error("int32 can't hold a product over " + std::to_string(a.size(1)) +
                           " terms of magnitude " + std::to_string(largest));
  if (a.size(0) == 0 || a.size(1) == 0 || b.size(1) == 0)
    return at::zeros({a.size(0), b.size(1)}, at::kInt);
  switch (route) {
    case IntegerRoute::brgemm:
      return packed_integer_product(a, pack(b));
    case IntegerRoute::int_mm:
      return at::_int_mm(with_plain_strides(a), with_plain_strides(b));
    case IntegerRoute::float32:
      break;
  }
  return float_route(a, b, largest);
}

at::Tensor scaled_integer_product(IntegerRoute route, const at::Tensor& a, const at::Tensor& b,
                                  int largest, float factor, const at::Tensor& row_scales,
                                  const at::Tensor& col_scales) {
  const at::AutoDispatchBelowAutograd no_autograd;
  check_factors(a, b);
  const Ops& ops = cpu_ops();
  const std::int64_t cols = b.size(1);
  const float* row_scale = row_scales.const_data_ptr<float>();
  const float* col_scale = col_scales.const_data_ptr<float>();
  const std::int64_t row_count = row_scales.numel();
  const std::int64_t col_count = col_scales.numel();
  const auto scale_from = [=](std::int64_t row) { return row_scale + (row_count == 1 ? 0 : row); };

  const std::int64_t k = a.size(1);
  const bool overflows = k > exact_terms(largest, 31);
  const bool exact_in_float = route == IntegerRoute::float32 && k <= exact_terms(largest, 24);
  if (overflows || exact_in_float) {
    at::Tensor product = overflows ? long_product(route, a, b, largest) : float_mm(a, b);
    float* values = product.mutable_data_ptr<float>();
    over_rows(a.size(0), cols, [&](std::int64_t row, std::int64_t rows) {
      ops.dequantize_in_place(values + row * cols, rows, cols, factor, scale_from(row),
                              row_count == 1 ? 1 : rows, col_scale, col_count);
    });
    return product;
  }
  if (route == IntegerRoute::brgemm)
    return scaled_packed_product(a, pack(b), factor, row_scales, col_scales);
  const at::Tensor sums = integer_gemm_by(route, a, b, largest);
  at::Tensor product = sums.view(at::kFloat);  // the integers' own memory, float by float
  const std::int32_t* integers = sums.const_data_ptr<std::int32_t>();
  float* values = product.mutable_data_ptr<float>();
  over_rows(a.size(0), cols, [&](std::int64_t row, std::int64_t rows) {
    ops.dequantize(integers + row * cols, cols, rows, cols, factor, scale_from(row),
                   row_count == 1 ? 1 : rows, col_scale, col_count, values + row * cols, cols);
  });
  return product;
}

at::Tensor integer_gemm(const at::Tensor& a, const at::Tensor& b, int largest) {
  return integer_gemm_by(integer_route().route, a, b, largest);
}

}  // namespace hot::kernels
