#include "kernels/preparation.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <stdexcept>

#include "kernels/common/formats.hpp"
#include "kernels/common/quantize.hpp"

namespace hot::kernels {
namespace {

bool transforms_rows(const Recipe& recipe) {
  return recipe.along == Along::rows && recipe.transform.kind != Transform::Kind::none;
}

MatrixSize transformed_size(const Recipe& recipe, std::int64_t rows, std::int64_t cols) {
  return recipe.along == Along::rows ? MatrixSize{transformed_length(rows, recipe.transform), cols}
                                     : MatrixSize{rows, transformed_length(cols, recipe.transform)};
}

/// Rows of the transformed matrix that a block of rows becomes.
std::int64_t kept_of_block(const Recipe& recipe) {
  return transforms_rows(recipe) ? transformed_length(recipe.transform.order, recipe.transform) : 1;
}

std::int64_t unit_of(const Recipe& recipe) {
  std::int64_t blocks = 1;
  if (recipe.order == Order::packed)
    while (blocks * kept_of_block(recipe) % kPackedRows != 0) blocks *= 2;
  return blocks * (transforms_rows(recipe) ? recipe.transform.order : 1);
}

at::Tensor room_for(const Recipe& recipe, const MatrixSize& size) {
  if (recipe.format == Format::none) return at::empty({size.rows, size.cols}, at::kFloat);
  switch (recipe.order) {
    case Order::packed:
      return at::empty({packed_bytes(size.rows, size.cols)}, at::kChar);
    case Order::columns:
      return at::empty({size.cols, size.rows}, at::kChar);
    case Order::rows:
      break;
  }
  return at::empty({size.rows, size.cols}, at::kChar);
}

}  // namespace

Preparation::Preparation(const Recipe& recipe, std::int64_t rows, std::int64_t cols,
                         const at::Tensor& scales)
    : recipe_(recipe),
      size_(transformed_size(recipe, rows, cols)),
      unit_(unit_of(recipe)),
      values_(room_for(recipe, size_)),
      scales_(scales) {
  if (recipe.format == Format::none) return;
  const std::int64_t count = scale_count(recipe.granularity, size_.rows, size_.cols);
  if (!scales_.defined())
    scales_ = at::zeros({count}, at::kFloat);
  else if (scales_.dim() != 1 || scales_.scalar_type() != at::kFloat || !scales_.is_contiguous() ||
           scales_.numel() != count)
    throw std::logic_error("scales are a contiguous float32 vector, one for each group");
}

bool Preparation::one_pass() const {
  return recipe_.format == Format::none || recipe_.granularity == Granularity::row;
}

bool Preparation::takes_strips() const {
  return recipe_.along == Along::rows && !one_pass();
}

std::int64_t Preparation::out_row(std::int64_t row) const {
  return transforms_rows(recipe_) ? row / recipe_.transform.order * kept_of_block(recipe_) : row;
}

Preparation::Seen Preparation::nothing_seen() const {
  return Seen(static_cast<std::size_t>(one_pass() ? 0 : scales_.numel()), 0.0F);
}

void Preparation::look(const MatrixView& piece, std::int64_t first_row, std::int64_t first_col,
                       Seen& seen) {
  const Ops& ops = cpu_ops();
  const std::int64_t row = out_row(first_row);
  if (recipe_.format == Format::none) {
    ops.transform(piece, recipe_.along, recipe_.transform,
                  values_.mutable_data_ptr<float>() + row * size_.cols);
  } else if (recipe_.granularity == Granularity::row) {
    ops.transform_quantize_rows(piece, recipe_.along, recipe_.transform, recipe_.format,
                                {recipe_.rounding, recipe_.seed},
                                scales_.mutable_data_ptr<float>() + row, levels_from(row, 0));
  } else {
    ops.transform_abs_max(
        piece, recipe_.along, recipe_.transform, recipe_.granularity,
        seen.data() + (recipe_.granularity == Granularity::column ? first_col : 0));
  }
}

void Preparation::merge(const Seen& seen) {
  const std::scoped_lock lock(merging_);
  float* largest = scales_.defined() ? scales_.mutable_data_ptr<float>() : nullptr;
  for (std::size_t i = 0; i < seen.size(); ++i) largest[i] = larger_magnitude(largest[i], seen[i]);
}

void Preparation::set_scales() {
  if (one_pass()) return;
  const auto level = static_cast<float>(max_level(recipe_.format));
  float* scales = scales_.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < scales_.numel(); ++i) scales[i] = scale_for(scales[i], level);
}

LevelsOut Preparation::levels_from(std::int64_t row, std::int64_t col) const {
  return {values_.mutable_data_ptr<std::int8_t>(), size_.rows, size_.cols, recipe_.order, row, col};
}

void Preparation::round(const MatrixView& piece, std::int64_t first_row, std::int64_t first_col) {
  const std::int64_t row = out_row(first_row);
  const float* scales = scales_.const_data_ptr<float>();
  cpu_ops().transform_quantize(piece, recipe_.along, recipe_.transform, recipe_.format,
                               recipe_.granularity,
                               recipe_.granularity == Granularity::row ? scales + row : scales,
                               {recipe_.rounding, recipe_.seed}, levels_from(row, first_col));
}

Operand Preparation::result() && {
  Operand operand{values_,           scales_,        recipe_.along,
                  recipe_.transform, recipe_.format, recipe_.granularity};
  if (recipe_.format == Format::none) return operand;
  if (recipe_.order == Order::packed) operand.packed = size_;
  if (recipe_.order == Order::columns) operand.values = values_.t();
  return operand;
}

}  // namespace hot::kernels
