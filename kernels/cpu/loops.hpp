// The operations as loops over vectors of one width, included once by each file that compiles them
// for one instruction set: it defines HOT_VECTOR_FLOATS first. Everything has internal linkage, so
// that each file keeps its own machine code.
#pragma once

#include "kernels/cpu/level_tiles.hpp"
#include "kernels/cpu/nibbles.hpp"
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

/// The largest magnitude of a matrix whose row blocks fit into registers, never stored; 0 columns
/// are left where the rest begins.
std::int64_t abs_max_in_registers(const MatrixView& in, const Transform& transform,
                                  float& largest) {
  constexpr int kRows = kRegisterRows;
  const std::int64_t cols = in.cols / kLanes * kLanes;
  std::uint32_t kept = 0;
  for (const int row : kept_rows(transform)) kept |= 1U << row;
  Ints most = Ints{};
  for (std::int64_t row = 0; row + kRows <= in.rows; row += kRows)
    for (std::int64_t col = 0; col < cols; col += kLanes)
      most = largest_in_registers<kRows>(in.data + row * in.row_stride + col, in.row_stride, kept,
                                         most);
  for (int lane = 0; lane < kLanes; ++lane)
    largest = larger_magnitude(largest, std::bit_cast<float>(most[lane]));
  return cols;
}

void transform_abs_max(const MatrixView& in, Along along, const Transform& transform,
                       Granularity granularity, float* largest) {
  if (granularity == Granularity::tensor && along == Along::rows && in.col_stride == 1 &&
      transform.kind != Transform::Kind::none && transform.order == kRegisterRows &&
      in.rows >= kRegisterRows && in.cols >= kLanes) {
    const std::int64_t rows = in.rows / kRegisterRows * kRegisterRows;
    const std::int64_t cols = abs_max_in_registers(in, transform, *largest);
    MatrixView right = in;
    right.data += cols;
    right.cols -= cols;
    MatrixView below = in;
    below.data += rows * in.row_stride;
    below.rows -= rows;
    if (right.cols > 0) transform_abs_max(right, along, transform, granularity, largest);
    if (below.rows > 0) transform_abs_max(below, along, transform, granularity, largest);
    return;
  }
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

/// Quantizes the transformed matrix, which begins at row `first_row` and column `first_col` of a
/// whole with `cols` columns. place(row, col) says where the levels of a run go.
template <class Place>
void quantize_runs(const MatrixView& in, Along along, const Transform& transform, Format format,
                   Granularity granularity, const float* scales, const RoundingRule& rounding,
                   std::int64_t first_row, std::int64_t first_col, std::int64_t cols,
                   const Place& place) {
  const auto level = static_cast<float>(max_level(format));
  transformed_runs(
      in, along, transform,
      [&](const float* values, std::int64_t row, std::int64_t col, std::int64_t count) {
        const std::int64_t first = (first_row + row) * cols + first_col + col;
        std::int8_t* to = place(row, col);
        if (granularity == Granularity::column)
          quantize_run<true>(values, count, scales + first_col + col, level, rounding, first, to);
        else
          quantize_run<false>(values, count, scales + (granularity == Granularity::row ? row : 0),
                              level, rounding, first, to);
      });
}

/// The same in another order than by rows: tiles of levels in the first-level cache, then arranged.
void quantize_tiles(const MatrixView& in, Along along, const Transform& transform, Format format,
                    Granularity granularity, const float* scales, const RoundingRule& rounding,
                    const LevelsOut& out) {
  const bool by_rows = along == Along::rows;
  const std::int64_t order = transform.kind == Transform::Kind::none ? 1 : transform.order;
  const std::int64_t kept = transformed_length(order, transform);
  const std::int64_t tall =
      by_rows ? smaller_multiple(kTileRows / kept, blocks_of_whole_groups(kept)) * order
              : kTileRows;
  const std::int64_t wide = by_rows || order == 1 ? kTileCols : order * kPanel;
  LevelTile tile;
  for (std::int64_t row = 0; row < in.rows; row += tall)
    for (std::int64_t col = 0; col < in.cols; col += wide) {
      const MatrixView part{in.data + row * in.row_stride + col * in.col_stride,
                            smaller(tall, in.rows - row), smaller(wide, in.cols - col),
                            in.row_stride, in.col_stride};
      const std::int64_t out_row = by_rows ? row / order * kept : row;
      const std::int64_t out_col = by_rows ? col : col / order * kept;
      tile.rows = by_rows ? transformed_length(part.rows, transform) : part.rows;
      tile.cols = by_rows ? part.cols : transformed_length(part.cols, transform);
      tile.reserve();
      quantize_runs(part, along, transform, format, granularity,
                    scales + (granularity == Granularity::row ? out_row : 0), rounding,
                    out.first_row + out_row, out.first_col + out_col, out.cols,
                    [&](std::int64_t r, std::int64_t c) { return tile.at(r) + c; });
      place_tile(tile, out.first_row + out_row, out.first_col + out_col, out);
    }
}

void transform_quantize(const MatrixView& in, Along along, const Transform& transform,
                        Format format, Granularity granularity, const float* scales,
                        const RoundingRule& rounding, const LevelsOut& out) {
  if (out.order != Order::rows) {
    quantize_tiles(in, along, transform, format, granularity, scales, rounding, out);
    return;
  }
  quantize_runs(in, along, transform, format, granularity, scales, rounding, out.first_row,
                out.first_col, out.cols, [&](std::int64_t row, std::int64_t col) {
                  return out.data + (out.first_row + row) * out.cols + out.first_col + col;
                });
}

/// Scales and levels of rows that lie in one piece, with no transform or a whole one along them.
void quantize_whole_rows(const MatrixView& in, const Transform& transform, Format format,
                         const RoundingRule& rounding, float* scales, const LevelsOut& out) {
  const bool transforms = transform.kind == Transform::Kind::hadamard;
  const auto level = static_cast<float>(max_level(format));
  const auto room = floats(transforms ? whole_registers(out.cols) : 0);
  for (std::int64_t r = 0; r < in.rows; ++r) {
    const float* row = in.data + r * in.row_stride;
    if (transforms) {
      hadamard_across(row, in.cols, room.get(), transform.order, out.cols);
      row = room.get();
    }
    scales[r] = scale_for(largest_of(row, out.cols, 0.0F), level);
    const std::int64_t first = (out.first_row + r) * out.cols;
    quantize_run<false>(row, out.cols, scales + r, level, rounding, first, out.data + first);
  }
}

void transform_quantize_rows(const MatrixView& in, Along along, const Transform& transform,
                             Format format, const RoundingRule& rounding, float* scales,
                             const LevelsOut& out) {
  const bool along_rows = along == Along::rows && transform.kind != Transform::Kind::none;
  if (!along_rows && transform.kind != Transform::Kind::lowrank && in.col_stride == 1 &&
      out.order == Order::rows) {
    quantize_whole_rows(in, transform, format, rounding, scales, out);
    return;
  }
  const std::int64_t rows = along_rows ? transformed_length(in.rows, transform) : in.rows;
  std::fill(scales, scales + rows, 0.0F);
  transform_abs_max(in, along, transform, Granularity::row, scales);
  const auto level = static_cast<float>(max_level(format));
  for (std::int64_t r = 0; r < rows; ++r) scales[r] = scale_for(scales[r], level);
  transform_quantize(in, along, transform, format, Granularity::row, scales, rounding, out);
}

void arrange(const std::int8_t* in, std::int64_t rows, const LevelsOut& out) {
  LevelTile tile;
  for (std::int64_t row = 0; row < rows; row += kTileRows)
    for (std::int64_t col = 0; col < out.cols; col += kTileCols) {
      tile.rows = smaller(kTileRows, rows - row);
      tile.cols = smaller(kTileCols, out.cols - col);
      tile.reserve();
      for (std::int64_t r = 0; r < tile.rows; ++r)
        std::memcpy(tile.at(r), in + (row + r) * out.cols + col,
                    static_cast<std::size_t>(tile.cols));
      place_tile(tile, out.first_row + row, col, out);
    }
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

/// One row of dequantize() or, where it adds, of add_dequantized(); `to` may be the memory of
/// `from`, so both are read and written by value.
template <bool adds, class Number>
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
    Floats scaled = as_floats(from + c) * scales;
    if constexpr (adds) {
      Floats sum;
      load(sum, to + c);
      scaled += sum;
    }
    store(scaled, to + c);
  }
  for (; c < cols; ++c) {
    Number number;
    std::memcpy(&number, from + c, sizeof(number));
    float scaled =
        static_cast<float>(number) * (col_count == 1 ? common : row_scale * col_scales[c]);
    if constexpr (adds) scaled += to[c];
    std::memcpy(to + c, &scaled, sizeof(scaled));
  }
}

template <bool adds, class Number>
void scale_rows(const Number* in, std::int64_t in_stride, std::int64_t rows, std::int64_t cols,
                float factor, const float* row_scales, std::int64_t row_count,
                const float* col_scales, std::int64_t col_count, float* out,
                std::int64_t out_stride) {
  if (cols == 0) return;
  for (std::int64_t r = 0; r < rows; ++r)
    scale_row<adds>(in + r * in_stride, cols, factor * row_scales[row_count == 1 ? 0 : r],
                    col_scales, col_count, out + r * out_stride);
}

void dequantize(const std::int32_t* in, std::int64_t in_stride, std::int64_t rows,
                std::int64_t cols, float factor, const float* row_scales, std::int64_t row_count,
                const float* col_scales, std::int64_t col_count, float* out,
                std::int64_t out_stride) {
  scale_rows<false>(in, in_stride, rows, cols, factor, row_scales, row_count, col_scales, col_count,
                    out, out_stride);
}

void add_dequantized(const std::int32_t* in, std::int64_t in_stride, std::int64_t rows,
                     std::int64_t cols, float factor, const float* row_scales,
                     std::int64_t row_count, const float* col_scales, std::int64_t col_count,
                     float* sums, std::int64_t sums_stride) {
  scale_rows<true>(in, in_stride, rows, cols, factor, row_scales, row_count, col_scales, col_count,
                   sums, sums_stride);
}

void dequantize_in_place(float* values, std::int64_t rows, std::int64_t cols, float factor,
                         const float* row_scales, std::int64_t row_count, const float* col_scales,
                         std::int64_t col_count) {
  scale_rows<false>(values, cols, rows, cols, factor, row_scales, row_count, col_scales, col_count,
                    values, cols);
}

constexpr Ops loops_compiled_as(const char* name) {
  return {.name = name,
          .transform = transform_matrix,
          .transform_abs_max = transform_abs_max,
          .transform_quantize = transform_quantize,
          .transform_quantize_rows = transform_quantize_rows,
          .arrange = arrange,
          .pack_int4 = pack_int4,
          .unpack_int4 = unpack_int4,
          .transpose = transpose_matrix,
          .dequantize = dequantize,
          .add_dequantized = add_dequantized,
          .dequantize_in_place = dequantize_in_place};
}

}  // namespace
}  // namespace hot::kernels
