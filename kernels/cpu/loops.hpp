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

/// kLanes values of a product as floats: integers are converted, floats are taken as they are.
inline Floats as_floats(const std::int32_t* from) {
  Ints integers;
  std::memcpy(&integers, from, sizeof(integers));
  return __builtin_convertvector(integers, Floats);
}
inline Floats as_floats(const float* from) {
  Floats values;
  load(values, from);
  return values;
}

/// One row of dequantize(); `to` may be the memory of `from`, so both are read and written by
/// value.
template <class Number>
void scale_row(const Number* from, std::int64_t cols, float row_scale, const float* col_scales,
               std::int64_t col_count, float* to) {
  const float common = row_scale * col_scales[0];
  std::int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) {
    Floats scales = Floats{} + common;
    if (col_count != 1) {
      load(scales, col_scales + c);
      scales *= row_scale;
    }
    store(as_floats(from + c) * scales, to + c);
  }
  for (; c < cols; ++c) {
    Number number;
    std::memcpy(&number, from + c, sizeof(number));
    const float scaled =
        static_cast<float>(number) * (col_count == 1 ? common : row_scale * col_scales[c]);
    std::memcpy(to + c, &scaled, sizeof(scaled));
  }
}

template <class Number>
void scale_rows(const Number* in, std::int64_t rows, std::int64_t cols, float factor,
                const float* row_scales, std::int64_t row_count, const float* col_scales,
                std::int64_t col_count, float* out) {
  if (cols == 0) return;
  for (std::int64_t r = 0; r < rows; ++r)
    scale_row(in + r * cols, cols, factor * row_scales[row_count == 1 ? 0 : r], col_scales,
              col_count, out + r * cols);
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
