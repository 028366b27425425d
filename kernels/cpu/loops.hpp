// The operations as loops over vectors of one width, included once by each file that compiles them
// for one instruction set: it defines HOT_VECTOR_FLOATS first. Everything has internal linkage, so
// that each file keeps its own machine code.
#pragma once

#include "kernels/cpu/rounding.hpp"
#include "kernels/cpu/runs.hpp"

namespace hot::kernels {
namespace {

void transform_matrix(const MatrixView& in, Along along, const Transform& transform, float* out) {
  const std::int64_t cols = along == Along::cols ? transformed_length(in.cols, transform) : in.cols;
  transformed_runs(
      in, along, transform,
      [=](const float* values, std::int64_t row, std::int64_t col, std::int64_t count) {
        std::memcpy(out + row * cols + col, values,
                    static_cast<std::size_t>(count) * sizeof(float));
      });
}

void transform_abs_max(const MatrixView& in, Along along, const Transform& transform,
                       Granularity granularity, float* largest) {
  transformed_runs(
      in, along, transform,
      [=](const float* values, std::int64_t row, std::int64_t col, std::int64_t count) {
        if (granularity == Granularity::column) {
          raise_each(values, count, largest + col);
        } else {
          float& group = largest[granularity == Granularity::row ? row : 0];
          group = largest_of(values, count, group);
        }
      });
}

void transform_quantize(const MatrixView& in, Along along, const Transform& transform,
                        Format format, Granularity granularity, const float* scales,
                        const RoundingRule& rounding, std::int8_t* out) {
  const std::int64_t cols = along == Along::cols ? transformed_length(in.cols, transform) : in.cols;
  const auto level = static_cast<float>(max_level(format));
  transformed_runs(
      in, along, transform,
      [=](const float* values, std::int64_t row, std::int64_t col, std::int64_t count) {
        const std::int64_t at = row * cols + col;
        if (granularity == Granularity::column)
          quantize_run<true>(values, count, scales + col, level, rounding, rounding.first + at,
                             out + at);
        else
          quantize_run<false>(values, count, scales + (granularity == Granularity::row ? row : 0),
                              level, rounding, rounding.first + at, out + at);
      });
}

template <class Integer>
void scale_rows(const Integer* in, std::int64_t rows, std::int64_t cols, float factor,
                const float* row_scales, std::int64_t row_count, const float* col_scales,
                std::int64_t col_count, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const float row_scale = factor * row_scales[row_count == 1 ? 0 : r];
    const Integer* from = in + r * cols;
    float* to = out + r * cols;
    if (col_count == 1) {
      const float scale = row_scale * col_scales[0];
      for (std::int64_t c = 0; c < cols; ++c) to[c] = static_cast<float>(from[c]) * scale;
    } else {
      for (std::int64_t c = 0; c < cols; ++c)
        to[c] = static_cast<float>(from[c]) * (row_scale * col_scales[c]);
    }
  }
}

void dequantize(const std::int32_t* in, std::int64_t rows, std::int64_t cols, float factor,
                const float* row_scales, std::int64_t row_count, const float* col_scales,
                std::int64_t col_count, float* out) {
  scale_rows(in, rows, cols, factor, row_scales, row_count, col_scales, col_count, out);
}

void dequantize_in_place(float* values, std::int64_t rows, std::int64_t cols, float factor,
                         const float* row_scales, std::int64_t row_count, const float* col_scales,
                         std::int64_t col_count) {
  scale_rows(values, rows, cols, factor, row_scales, row_count, col_scales, col_count, values);
}

constexpr Ops loops_compiled_as(const char* name) {
  return {name,       transform_matrix,   transform_abs_max, transform_quantize,
          dequantize, dequantize_in_place};
}

}  // namespace
}  // namespace hot::kernels
