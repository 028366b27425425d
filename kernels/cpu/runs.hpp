// The transformed matrix, handed on in contiguous runs that are still in the first-level cache.
// Part of loops.hpp; internal linkage.
#pragma once

#include "kernels/cpu/tiles.hpp"
#include "kernels/cpu/transforms.hpp"

namespace hot::kernels {
namespace {

/// Calls sink(values, row, col, count) for contiguous runs that together are `in`.
template <class Sink>
void plain_runs(const MatrixView& in, Sink& sink) {
  if (in.col_stride == 1) {
    for (std::int64_t r = 0; r < in.rows; ++r)
      sink(in.data + r * in.row_stride, r, std::int64_t{0}, in.cols);
    return;
  }
  constexpr std::int64_t kHeight = 16;
  constexpr std::int64_t kWidth = kTileFloats / kHeight;
  const auto tile = floats(kTileFloats);
  for (std::int64_t row = 0; row < in.rows; row += kHeight)
    for (std::int64_t col = 0; col < in.cols; col += kWidth) {
      const std::int64_t height = smaller(kHeight, in.rows - row);
      const std::int64_t width = smaller(kWidth, in.cols - col);
      load_tile(in, row, col, height, width, width, tile.get());
      for (std::int64_t r = 0; r < height; ++r) sink(tile.get() + r * width, row + r, col, width);
    }
}

/// The same for the matrix whose row blocks are transformed.
template <class Sink>
void runs_along_rows(const MatrixView& in, const Transform& transform, Sink& sink) {
  const std::vector<int> kept = kept_rows(transform);
  const auto rank = static_cast<std::int64_t>(kept.size());
  const std::int64_t order = transform.order;
  const std::int64_t tile_width = order < kTileFloats / 16 ? kTileFloats / order : 16;
  const auto tile = floats(order * tile_width);
  for (std::int64_t block = 0; block * order < in.rows; ++block)
    for (std::int64_t col = 0; col < in.cols; col += tile_width) {
      const std::int64_t width = smaller(tile_width, in.cols - col);
      const std::int64_t row = block * order;
      if (in.col_stride == 1 && row + order <= in.rows) {
        hadamard_down(in.data + row * in.row_stride + col, in.row_stride, tile.get(), width, order,
                      width);
      } else {
        load_tile(in, row, col, order, width, width, tile.get());
        hadamard_down(tile.get(), width, tile.get(), width, order, width);
      }
      for (std::int64_t j = 0; j < rank; ++j)
        sink(tile.get() + kept[static_cast<std::size_t>(j)] * width, block * rank + j, col, width);
    }
}

/// The same for the matrix whose column blocks are transformed.
template <class Sink>
void runs_along_cols(const MatrixView& in, const Transform& transform, Sink& sink) {
  const std::vector<int> kept = kept_rows(transform);
  const auto rank = static_cast<std::int64_t>(kept.size());
  const std::int64_t order = transform.order;
  const std::int64_t padded = (in.cols + order - 1) / order * order;
  // A row at a time, or some rows where a cache line holds elements of several.
  const bool strided = in.col_stride != 1;
  const std::int64_t tile_height = strided ? 16 : 1;
  const std::int64_t most = strided ? kTileFloats / tile_height : kRunFloats;
  const std::int64_t tile_width = order < most ? most / order * order : order;
  const auto tile = floats(strided ? tile_height * tile_width : 0);
  const auto run = floats(whole_registers(tile_width));
  const auto packed = floats(tile_width / order * rank);
  for (std::int64_t row = 0; row < in.rows; row += tile_height)
    for (std::int64_t col = 0; col < padded; col += tile_width) {
      const std::int64_t height = smaller(tile_height, in.rows - row);
      const std::int64_t width = smaller(tile_width, padded - col);
      const std::int64_t real = smaller(width, in.cols - col);
      if (strided) load_tile(in, row, col, height, real, tile_width, tile.get());
      for (std::int64_t r = 0; r < height; ++r) {
        const float* source =
            strided ? tile.get() + r * tile_width : in.data + (row + r) * in.row_stride + col;
        hadamard_across(source, real, run.get(), order, width);
        if (transform.kind == Transform::Kind::hadamard) {
          sink(run.get(), row + r, col, width);
          continue;
        }
        keep_of_blocks(run.get(), width / order, order, kept, packed.get());
        sink(packed.get(), row + r, col / order * rank, width / order * rank);
      }
    }
}

/// Calls sink(values, row, col, count) for contiguous runs that together are the transformed
/// matrix.
template <class Sink>
void transformed_runs(const MatrixView& in, Along along, const Transform& transform, Sink sink) {
  if (transform.kind == Transform::Kind::none)
    plain_runs(in, sink);
  else if (along == Along::rows)
    runs_along_rows(in, transform, sink);
  else
    runs_along_cols(in, transform, sink);
}

}  // namespace
}  // namespace hot::kernels
