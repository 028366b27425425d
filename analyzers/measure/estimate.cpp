#include "analyzers/measure/estimate.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "kernels/common/quantize.hpp"
#include "kernels/rounded.hpp"

namespace hot::measure {
namespace {

using kernels::Along;
using kernels::Operand;

/// gy's part [rows·k × n] as [rows × k·n].
at::Tensor join_gy(const Product& product, const at::Tensor& part) {
  return part.reshape({part.size(0) / product.places, -1});
}

/// W's part [n × cols·k] as [k·n × cols].
at::Tensor join_other(const Product& product, const at::Tensor& part) {
  const std::int64_t cols = part.size(1) / product.places;
  return part.reshape({part.size(0), cols, product.places})
      .permute({2, 0, 1})
      .reshape({-1, cols})
      .contiguous();
}

bool one_scale(const Operand& o) {
  return o.format == Format::none || o.granularity == Granularity::tensor;
}

/// Without a format: the same numbers, multiplied in float.
Operand without_format(const Operand& o) {
  return {kernels::dequantized(o), {}, o.along, o.transform, Format::none, Granularity::tensor};
}

/// Places become part of the contraction. One integer product stays one; scales that differ between
/// places can't be taken out of it, and are multiplied in before.
at::Tensor product_over_places(const Product& product, const Operand& gy, const Operand& other) {
  const bool keep = one_scale(gy) && one_scale(other) && gy.format == other.format;
  Operand a = keep ? gy : without_format(gy);
  Operand b = keep ? other : without_format(other);
  a.values = join_gy(product, a.values);
  b.values = join_other(product, b.values);
  return kernels::multiply(a, b);
}

/// Σ_j f(1−f)·weight_j with f the fractional part of a row's values over their scale: one for all,
/// or `by_col` one for each.
double weighted_variance(const float* values, std::int64_t count, float level, float scale,
                         const float* by_col, const double* weight) {
  double sum = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    const float t =
        kernels::scaled_to_level(values[j], by_col != nullptr ? by_col[j] : scale, level);
    const float fraction = std::abs(t - static_cast<float>(static_cast<std::int32_t>(t)));
    sum += static_cast<double>(fraction * (1 - fraction)) * weight[j];
  }
  return sum;
}

double square(double v) {
  return v * v;
}

}  // namespace

at::Tensor part_scales(const Maxima& maxima, const at::Tensor& transformed,
                       const kernels::Recipe& recipe) {
  if (recipe.format == Format::none) return {};
  if (recipe.granularity == Granularity::block) {
    return kernels::block_scales(maxima.by_index(recipe.transform), recipe.format, recipe.block);
  }
  if (recipe.granularity != Granularity::tensor) return kernels::scales_of(transformed, recipe);
  return at::full({1}, kernels::group_scale(recipe.format, maxima.of(recipe.transform)),
                  at::kFloat);
}

at::Tensor estimate(const Product& product, const Operand& gy, const Operand& other) {
  return product.places == 1 ? kernels::multiply(gy, other)
                             : product_over_places(product, gy, other);
}

at::Tensor exact_block(const Product& product) {
  if (product.path == Path::grad_weight) return at::mm(product.gy.part.t(), product.other.part);
  if (product.places == 1) return at::mm(product.gy.part, product.other.part);
  return at::mm(join_gy(product, product.gy.part), join_other(product, product.other.part));
}

std::vector<double> contraction_energy(const Product& product, const Operand& other) {
  at::Tensor values = kernels::dequantized(other);
  if (product.places > 1) values = join_other(product, values);
  const auto weights =
      at::from_blob(const_cast<double*>(product.cols.weight.data()),
                    {static_cast<std::int64_t>(product.cols.weight.size())}, at::kDouble)
          .to(at::kFloat);
  const double factor = product_factor(other.transform);
  const at::Tensor sums =
      at::mv(values.square(), weights).to(at::kDouble).mul_(factor * factor).contiguous();
  const auto* data = sums.const_data_ptr<double>();
  return {data, data + sums.numel()};
}

double rounding_noise(const Product& product, const at::Tensor& transformed_gy,
                      const at::Tensor& scales, const kernels::Recipe& recipe,
                      const std::vector<double>& energy) {
  const std::int64_t rows = transformed_gy.size(0);
  const std::int64_t cols = transformed_gy.size(1);
  const bool across = product.gy.along == Along::cols;
  const bool plain = is_integer(recipe.format) && recipe.granularity != Granularity::block;
  const at::Tensor variances =
      plain ? at::Tensor() : kernels::rounding_variance(transformed_gy, recipe, scales);
  const auto level = static_cast<float>(max_level(recipe.format));
  const float* scale = scales.const_data_ptr<float>();
  const float* by_col = plain && recipe.granularity == Granularity::column ? scale : nullptr;
  std::vector<double> weight(product.rows.weight);  // of gy's columns, where those are free
  for (std::size_t j = 0; by_col != nullptr && j < weight.size(); ++j) {
    weight[j] *= square(by_col[j]);
  }
  double sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const double* of_cols = across ? energy.data() + i % product.places * cols : weight.data();
    const double of_row = across ? weight[static_cast<std::size_t>(i / product.places)]
                                 : energy[static_cast<std::size_t>(i)];
    if (!plain) {
      const float* variance = variances.const_data_ptr<float>() + i * cols;
      sum += of_row * std::inner_product(variance, variance + cols, of_cols, 0.0);
      continue;
    }
    const float* values = transformed_gy.const_data_ptr<float>() + i * cols;
    const float common = recipe.granularity == Granularity::row ? scale[i] : scale[0];
    sum += (by_col != nullptr ? 1 : square(common)) * of_row *
           weighted_variance(values, cols, level, common, by_col, of_cols);
  }
  return sum;
}

}  // namespace hot::measure
