#include "kernels/rounded.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "kernels/block_product.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/quantize.hpp"
#include "kernels/formats/float_format.hpp"

namespace hot::kernels {
namespace {

/// Where the scale of an element lies in a vector of scales: row · by_row + col · by_col.
struct ScalePlace {
  std::int64_t by_row = 0;
  std::int64_t by_col = 0;
};

ScalePlace scale_place(const Recipe& recipe) {
  switch (recipe.granularity) {
    case Granularity::tensor:
      return {0, 0};
    case Granularity::row:
      return {1, 0};
    case Granularity::column:
      return {0, 1};
    case Granularity::block:
      break;
  }
  return recipe.along == Along::rows ? ScalePlace{1, 0} : ScalePlace{0, 1};
}

/// The numbers of an integer format around t = |v| / scale: its levels.
Neighbours around_level(float t, float largest) {
  if (t >= largest) return {largest, largest, true};
  const auto low = static_cast<float>(static_cast<std::int32_t>(t));
  return {low, low == t ? low : low + 1, static_cast<std::int32_t>(t) % 2 == 0};
}

/// Scales of the rows [first, last) of a matrix, element by element of a row.
class RowScales {
 public:
  RowScales(const at::Tensor& matrix, const Recipe& recipe, const FloatFormat* format,
            const at::Tensor& scales)
      : values_(matrix.const_data_ptr<float>()),
        rows_(matrix.size(0)),
        cols_(matrix.size(1)),
        along_(recipe.along),
        format_(format != nullptr && format->block_scale != nullptr ? format : nullptr),
        block_(own_block(recipe.format)),
        place_(scale_place(recipe)),
        scales_(scales.const_data_ptr<float>()),
        row_(static_cast<std::size_t>(cols_)) {}

  /// Those of one row. Rows come in ascending order within a whole block of rows.
  const std::vector<float>& of(std::int64_t row) {
    if (format_ == nullptr) {
      for (std::int64_t c = 0; c < cols_; ++c)
        row_[static_cast<std::size_t>(c)] = scales_[row * place_.by_row + c * place_.by_col];
    } else if (along_ == Along::cols) {
      across(row);
    } else if (row % block_ == 0) {
      down(row);
    }
    return row_;
  }

 private:
  void across(std::int64_t row) {
    for (std::int64_t first = 0; first < cols_; first += block_) {
      const std::int64_t last = std::min(cols_, first + block_);
      float largest = 0;
      for (std::int64_t c = first; c < last; ++c)
        largest = larger_magnitude(largest, values_[row * cols_ + c]);
      std::fill(row_.begin() + first, row_.begin() + last,
                format_->block_scale(largest, scales_[0]));
    }
  }
  void down(std::int64_t first) {
    std::fill(row_.begin(), row_.end(), 0.0F);
    for (std::int64_t r = first; r < std::min(rows_, first + block_); ++r)
      for (std::int64_t c = 0; c < cols_; ++c) {
        float& largest = row_[static_cast<std::size_t>(c)];
        largest = larger_magnitude(largest, values_[r * cols_ + c]);
      }
    for (float& scale : row_) scale = format_->block_scale(scale, scales_[0]);
  }

  const float* values_;
  std::int64_t rows_, cols_;
  Along along_;
  const FloatFormat* format_;
  std::int64_t block_;
  ScalePlace place_;
  const float* scales_;
  std::vector<float> row_;
};

/// Calls use(element, value, scale) for all elements, from several threads.
template <class Use>
void over_elements(const at::Tensor& matrix, const Recipe& recipe, const FloatFormat* format,
                   const at::Tensor& scales, const Use& use) {
  const float* values = matrix.const_data_ptr<float>();
  const std::int64_t rows = matrix.size(0);
  const std::int64_t cols = matrix.size(1);
  const bool blocks_of_rows = own_block(recipe.format) > 0 && recipe.along == Along::rows;
  const std::int64_t unit = blocks_of_rows ? own_block(recipe.format) : 1;
  const std::int64_t grain = 1 + 32768 / std::max<std::int64_t>(1, unit * cols);
  at::parallel_for(0, (rows + unit - 1) / unit, grain, [&](std::int64_t begin, std::int64_t end) {
    RowScales row_scales(matrix, recipe, format, scales);
    for (std::int64_t row = begin * unit; row < std::min(rows, end * unit); ++row) {
      const std::vector<float>& scale = row_scales.of(row);
      for (std::int64_t c = 0; c < cols; ++c)
        use(row * cols + c, values[row * cols + c], scale[static_cast<std::size_t>(c)]);
    }
  });
}

at::Tensor rounded_floats(const at::Tensor& matrix, const Recipe& recipe, const FloatFormat& format,
                          const at::Tensor& scales) {
  at::Tensor result = at::empty(matrix.sizes(), at::kFloat);
  float* out = result.mutable_data_ptr<float>();
  const bool draws = recipe.rounding == Rounding::stochastic;
  over_elements(matrix, recipe, &format, scales, [&](std::int64_t i, float v, float scale) {
    const float t = std::abs(v) / scale;
    const Neighbours n = format.around(t);
    float magnitude = nearest(n, std::min(t, n.high));
    if (draws && n.low != n.high) {
      const auto group = static_cast<std::uint64_t>(i / kElementsPerGroup);
      const PhiloxWords words = rounding_words(recipe.seed, group);
      const auto lane = static_cast<int>(i % kElementsPerGroup);
      magnitude = stochastic(n, t, uniform_of(rounding_bits(words, lane)));
    }
    out[i] = std::copysign(magnitude * scale, v);
    if (!std::isfinite(scale) || std::isnan(v)) out[i] = v * scale;  // carried on
  });
  return result;
}

}  // namespace

float group_scale(Format format, float largest) {
  if (is_integer(format)) return scale_for(largest, static_cast<float>(max_level(format)));
  const FloatFormat* found = find_float_format(format);
  if (found == nullptr) throw std::logic_error("no scales without a format");
  return found->group_scale(largest);
}

at::Tensor block_scales(const at::Tensor& largest, Format format, int block) {
  at::Tensor scales = largest.to(at::kFloat).contiguous().clone();
  auto* values = scales.mutable_data_ptr<float>();
  for (std::int64_t first = 0; first < scales.numel(); first += block) {
    const std::int64_t last = std::min<std::int64_t>(scales.numel(), first + block);
    float most = 0;
    for (std::int64_t i = first; i < last; ++i) most = larger_magnitude(most, values[i]);
    std::fill(values + first, values + last, group_scale(format, most));
  }
  return scales;
}

at::Tensor scales_of(const at::Tensor& transformed, const Recipe& recipe) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const bool down = recipe.along == Along::rows;
  const at::Tensor magnitudes = transformed.abs();
  const auto over = [&](std::int64_t dim) {
    if (magnitudes.size(dim) > 0) return magnitudes.amax(dim);
    return at::zeros({magnitudes.size(1 - dim)}, at::kFloat);
  };
  if (recipe.granularity == Granularity::block)
    return block_scales(over(down ? 1 : 0), recipe.format, recipe.block);
  at::Tensor scales;
  if (recipe.granularity == Granularity::tensor)
    scales = magnitudes.numel() > 0 ? magnitudes.max().reshape({1}) : at::zeros({1}, at::kFloat);
  else
    scales = over(recipe.granularity == Granularity::row ? 1 : 0).contiguous();
  auto* values = scales.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < scales.numel(); ++i)
    values[i] = group_scale(recipe.format, values[i]);
  return scales;
}

Operand rounded(const at::Tensor& transformed, const Recipe& recipe, const at::Tensor& scales) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (const FloatFormat* format = find_float_format(recipe.format)) {
    return {rounded_floats(transformed, recipe, *format, scales),
            {},
            recipe.along,
            recipe.transform,
            Format::none,
            Granularity::tensor};
  }
  // One scale for each index of the contraction, as the passes know it.
  const bool blocks = recipe.granularity == Granularity::block;
  const Granularity each = recipe.along == Along::rows ? Granularity::row : Granularity::column;
  Operand operand =
      quantized(transformed, recipe.along, recipe.transform, recipe.format,
                blocks ? each : recipe.granularity, scales, recipe.rounding, recipe.seed);
  if (blocks) {
    operand.granularity = Granularity::block;
    operand.block = recipe.block;
  }
  return recipe.as_floats ? as_floats(operand) : operand;
}

at::Tensor rounding_variance(const at::Tensor& transformed, const Recipe& recipe,
                             const at::Tensor& scales) {
  at::Tensor result = at::empty(transformed.sizes(), at::kFloat);
  float* out = result.mutable_data_ptr<float>();
  const FloatFormat* format = find_float_format(recipe.format);
  const auto level = static_cast<float>(max_level(recipe.format));
  over_elements(transformed, recipe, format, scales, [&](std::int64_t i, float v, float scale) {
    const float t = std::abs(v) / scale;
    const Neighbours n = format == nullptr ? around_level(t, level) : format->around(t);
    out[i] = n.low == n.high ? 0 : variance(n, t) * scale * scale;
  });
  return result;
}

}  // namespace hot::kernels
