// Pieces of a matrix, copied to where they stay in the first-level cache. Part of loops.hpp;
// internal linkage.
#pragma once

#include "kernels/cpu/vectors.hpp"

namespace hot::kernels {
namespace {

/// Floats of a tile that the transform works on: 16 KiB, half of a small first-level cache.
constexpr std::int64_t kTileFloats = 4096;
/// Columns of a row that are transformed or quantized at once.
constexpr std::int64_t kRunFloats = 1024;

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

/// Room for `count` floats, not set to anything.
inline std::unique_ptr<float[]> floats(std::int64_t count) {
  return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
}

/// kLanes × kLanes elements whose columns are contiguous, `stride` apart.
inline void load_square(const float* source, std::int64_t stride, float* tile, std::int64_t pitch) {
  Floats v[kLanes];
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) load(v[i], source + i * stride);
  transpose(v);
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i) store(v[i], tile + i * pitch);
}

/// in [rows × cols] transposed, in squares through registers.
void transpose_matrix(const float* in, std::int64_t in_stride, std::int64_t rows, std::int64_t cols,
                      float* out, std::int64_t out_stride) {
  const std::int64_t whole_rows = rows / kLanes * kLanes;
  const std::int64_t whole_cols = cols / kLanes * kLanes;
  for (std::int64_t r = 0; r < whole_rows; r += kLanes)
    for (std::int64_t c = 0; c < whole_cols; c += kLanes)
      load_square(in + r * in_stride + c, in_stride, out + c * out_stride + r, out_stride);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = r < whole_rows ? whole_cols : 0; c < cols; ++c)
      out[c * out_stride + r] = in[r * in_stride + c];
}

struct Range {
  std::int64_t first_row, end_row, first_col, end_col;
};

/// Elements of any strides, one by one; a few columns at a time, each read from top to bottom.
void load_elements(const MatrixView& in, const float* source, const Range& range,
                   std::int64_t pitch, float* __restrict tile) {
  constexpr std::int64_t kColumns = 8;
  for (std::int64_t first = range.first_col; first < range.end_col; first += kColumns) {
    const std::int64_t end = smaller(first + kColumns, range.end_col);
    for (std::int64_t r = range.first_row; r < range.end_row; ++r)
      for (std::int64_t c = first; c < end; ++c)
        tile[r * pitch + c] = source[r * in.row_stride + c * in.col_stride];
  }
}

/// `height` rows and `width` columns of `in` from (row, col), row-major with `pitch` floats a row;
/// zeros below the last row of `in`. What lies between width and pitch is left as it is.
void load_tile(const MatrixView& in, std::int64_t row, std::int64_t col, std::int64_t height,
               std::int64_t width, std::int64_t pitch, float* __restrict tile) {
  const std::int64_t real = smaller(height, in.rows - row);
  const float* source = in.data + row * in.row_stride + col * in.col_stride;
  if (in.col_stride == 1) {
    for (std::int64_t r = 0; r < real; ++r)
      std::memcpy(tile + r * pitch, source + r * in.row_stride,
                  static_cast<std::size_t>(width) * sizeof(float));
  } else {
    // Whole squares through registers where a column lies in one piece, as in a transposed view.
    const bool columns = in.row_stride == 1;
    const std::int64_t square_rows = columns ? real / kLanes * kLanes : 0;
    const std::int64_t square_cols = columns ? width / kLanes * kLanes : 0;
    for (std::int64_t r = 0; r < square_rows; r += kLanes)
      for (std::int64_t c = 0; c < square_cols; c += kLanes)
        load_square(source + r + c * in.col_stride, in.col_stride, tile + r * pitch + c, pitch);
    load_elements(in, source, {0, square_rows, square_cols, width}, pitch, tile);
    load_elements(in, source, {square_rows, real, 0, width}, pitch, tile);
  }
  std::fill(tile + real * pitch, tile + height * pitch, 0.0F);
}

}  // namespace
}  // namespace hot::kernels
