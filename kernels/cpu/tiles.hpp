// Pieces of a matrix, copied to where they stay in the first-level cache. Part of loops.hpp;
// internal linkage.
#pragma once

#include "kernels/cpu/loops_includes.hpp"

namespace hot::kernels {
namespace {

/// Floats of a tile that the transform works on: 16 KiB, half of a small first-level cache.
constexpr std::int64_t kTileFloats = 4096;
/// Columns of a row that are transformed or quantized at once.
constexpr std::int64_t kRunFloats = 1024;

std::int64_t smaller(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
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
  } else {  // a few columns at a time, each read from top to bottom, which is contiguous if
            // transposed
    constexpr std::int64_t kColumns = 8;
    std::int64_t c = 0;
    for (; c + kColumns <= width; c += kColumns)
      for (std::int64_t r = 0; r < real; ++r)
        for (std::int64_t i = 0; i < kColumns; ++i)
          tile[r * pitch + c + i] = source[r * in.row_stride + (c + i) * in.col_stride];
    for (; c < width; ++c)
      for (std::int64_t r = 0; r < real; ++r)
        tile[r * pitch + c] = source[r * in.row_stride + c * in.col_stride];
  }
  std::fill(tile + real * pitch, tile + height * pitch, 0.0F);
}

}  // namespace
}  // namespace hot::kernels
