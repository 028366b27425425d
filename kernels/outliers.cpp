#include "kernels/outliers.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hot::kernels {
namespace {

std::vector<float> values_of(const at::Tensor& t) {
  const at::Tensor plain = t.to(at::kFloat).contiguous();
  const float* data = plain.const_data_ptr<float>();
  return {data, data + plain.numel()};
}

/// Largest over median, infinite where the median is zero.
double stands_out(std::vector<float> largest) {
  if (largest.empty()) return 0;
  const auto middle = largest.begin() + static_cast<std::ptrdiff_t>(largest.size() / 2);
  std::nth_element(largest.begin(), middle, largest.end());
  const double median = *middle;
  const double most = *std::max_element(largest.begin(), largest.end());
  return most > 0 ? most / median : 0;
}

std::int64_t contracted_dim(Along along) {
  return along == Along::rows ? 0 : 1;
}

}  // namespace

std::vector<std::int64_t> outlier_indices(const at::Tensor& gy_largest,
                                          const at::Tensor& other_largest, int count) {
  const std::vector<float> gy = values_of(gy_largest);
  const std::vector<float> other = values_of(other_largest);
  const std::vector<float>& by = stands_out(other) > stands_out(gy) ? other : gy;
  std::vector<std::int64_t> order(by.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int64_t i) { return by[static_cast<std::size_t>(i)]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(count)));
  std::ranges::sort(order);
  return order;
}

at::Tensor largest_along(const at::Tensor& matrix, Along along) {
  const std::int64_t free = 1 - contracted_dim(along);
  if (matrix.size(free) == 0) return at::zeros({matrix.size(1 - free)}, at::kFloat);
  return matrix.abs().amax(free);
}

at::Tensor without_indices(const at::Tensor& matrix, Along along,
                           const std::vector<std::int64_t>& indices) {
  return matrix.index_fill(contracted_dim(along), at::tensor(indices, at::kLong), 0.0F);
}

at::Tensor thin_product(const at::Tensor& gy, Along along, const at::Tensor& other,
                        const std::vector<std::int64_t>& indices) {
  const at::Tensor index = at::tensor(indices, at::kLong);
  const at::Tensor left = gy.index_select(contracted_dim(along), index);
  return at::mm(along == Along::cols ? left : left.t(), other.index_select(0, index));
}

Recipe deferred_recipe(Along along, const Scheme& scheme, std::uint64_t seed) {
  Recipe recipe;
  recipe.along = along;
  recipe.deferred = scheme;
  recipe.seed = seed;
  return recipe;
}

at::Tensor multiply_without_outliers(const Operand& gy, const Operand& other) {
  const std::vector<std::int64_t> indices =
      outlier_indices(largest_along(gy.values, gy.along), largest_along(other.values, other.along),
                      gy.deferred->outliers);
  Scheme rest = *gy.deferred;
  rest.outliers = 0;
  const Path path = gy.along == Along::cols ? Path::grad_input : Path::grad_weight;
  const at::Tensor remaining = without_indices(gy.values, gy.along, indices);
  const Operand a = prepare_gy(remaining, path, rest, gy.seed);
  const Operand b = prepare_w(without_indices(other.values, other.along, indices), rest);
  return multiply(a, b).add_(thin_product(gy.values, gy.along, other.values, indices));
}

}  // namespace hot::kernels
