// The operations as plain loops that a compiler vectorizes, included once by each file that
// compiles them for one instruction set. Everything has internal linkage, so that each file keeps
// its own machine code.
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

/// H_order times a tile [order × width]: butterflies between whole rows.
void hadamard_down(float* tile, std::int64_t order, std::int64_t width) {
  for (std::int64_t distance = 1; distance < order; distance *= 2)
    for (std::int64_t block = 0; block < order; block += 2 * distance)
      for (std::int64_t i = block; i < block + distance; ++i) {
        float* __restrict low = tile + i * width;
        float* __restrict high = low + distance * width;
        for (std::int64_t c = 0; c < width; ++c) butterfly(low[c], high[c]);
      }
}

/// One stage of butterflies inside a row; a distance known to the compiler becomes shuffles within
/// registers.
template <std::int64_t distance>
void stage_across(float* row, std::int64_t length) {
  for (std::int64_t block = 0; block < length; block += 2 * distance) {
    float* __restrict low = row + block;
    float* __restrict high = low + distance;
    for (std::int64_t i = 0; i < distance; ++i) butterfly(low[i], high[i]);
  }
}

/// Each `order` consecutive elements of a row times H_order; `length` is a multiple of `order`.
void hadamard_across(float* row, std::int64_t order, std::int64_t length) {
  if (order > 1) stage_across<1>(row, length);
  if (order > 2) stage_across<2>(row, length);
  if (order > 4) stage_across<4>(row, length);
  if (order > 8) stage_across<8>(row, length);
  for (std::int64_t distance = 16; distance < order; distance *= 2)
    for (std::int64_t block = 0; block < length; block += 2 * distance) {
      float* __restrict low = row + block;
      float* __restrict high = low + distance;
      for (std::int64_t i = 0; i < distance; ++i) butterfly(low[i], high[i]);
    }
}

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
  std::vector<float> tile(kTileFloats);
  for (std::int64_t row = 0; row < in.rows; row += kHeight)
    for (std::int64_t col = 0; col < in.cols; col += kWidth) {
      const std::int64_t height = smaller(kHeight, in.rows - row);
      const std::int64_t width = smaller(kWidth, in.cols - col);
      load_tile(in, row, col, height, width, width, tile.data());
      for (std::int64_t r = 0; r < height; ++r) sink(tile.data() + r * width, row + r, col, width);
    }
}

/// The same for the matrix whose row blocks are transformed.
template <class Sink>
void runs_along_rows(const MatrixView& in, const Transform& transform, Sink& sink) {
  const std::vector<int> kept = kept_rows(transform);
  const auto rank = static_cast<std::int64_t>(kept.size());
  const std::int64_t order = transform.order;
  const std::int64_t tile_width = order < kTileFloats / 16 ? kTileFloats / order : 16;
  std::vector<float> tile(static_cast<std::size_t>(order * tile_width));
  for (std::int64_t block = 0; block * order < in.rows; ++block)
    for (std::int64_t col = 0; col < in.cols; col += tile_width) {
      const std::int64_t width = smaller(tile_width, in.cols - col);
      load_tile(in, block * order, col, order, width, width, tile.data());
      hadamard_down(tile.data(), order, width);
      for (std::int64_t j = 0; j < rank; ++j)
        sink(tile.data() + kept[static_cast<std::size_t>(j)] * width, block * rank + j, col, width);
    }
}

/// The `kept` elements of each block of `order`, moved together.
void keep_of_blocks(const float* __restrict tile, std::int64_t blocks, std::int64_t order,
                    const std::vector<int>& kept, float* __restrict packed) {
  const auto rank = static_cast<std::int64_t>(kept.size());
  for (std::int64_t b = 0; b < blocks; ++b)
    for (std::int64_t j = 0; j < rank; ++j)
      packed[b * rank + j] = tile[b * order + kept[static_cast<std::size_t>(j)]];
}

/// The same for the matrix whose column blocks are transformed.
template <class Sink>
void runs_along_cols(const MatrixView& in, const Transform& transform, Sink& sink) {
  const std::vector<int> kept = kept_rows(transform);
  const auto rank = static_cast<std::int64_t>(kept.size());
  const std::int64_t order = transform.order;
  const std::int64_t padded = (in.cols + order - 1) / order * order;
  // A row at a time, or some rows where a cache line holds elements of several.
  const std::int64_t tile_height = in.col_stride == 1 ? 1 : 16;
  const std::int64_t most = in.col_stride == 1 ? kRunFloats : kTileFloats / tile_height;
  const std::int64_t tile_width = order < most ? most / order * order : order;
  std::vector<float> tile(static_cast<std::size_t>(tile_height * tile_width));
  std::vector<float> packed(static_cast<std::size_t>(tile_width / order * rank));
  for (std::int64_t row = 0; row < in.rows; row += tile_height)
    for (std::int64_t col = 0; col < padded; col += tile_width) {
      const std::int64_t height = smaller(tile_height, in.rows - row);
      const std::int64_t width = smaller(tile_width, padded - col);
      const std::int64_t real = smaller(width, in.cols - col);
      load_tile(in, row, col, height, real, width, tile.data());
      for (std::int64_t r = 0; r < height; ++r) {
        float* run = tile.data() + r * width;
        std::fill(run + real, run + width, 0.0F);
        hadamard_across(run, order, width);
        if (transform.kind == Transform::Kind::hadamard) {
          sink(run, row + r, col, width);
          continue;
        }
        keep_of_blocks(run, width / order, order, kept, packed.data());
        sink(packed.data(), row + r, col / order * rank, width / order * rank);
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

void transform_matrix(const MatrixView& in, Along along, const Transform& transform, float* out) {
  const std::int64_t cols = along == Along::cols ? transformed_length(in.cols, transform) : in.cols;
  transformed_runs(
      in, along, transform,
      [=](const float* values, std::int64_t row, std::int64_t col, std::int64_t count) {
        std::memcpy(out + row * cols + col, values,
                    static_cast<std::size_t>(count) * sizeof(float));
      });
}

float largest_of(const float* __restrict values, std::int64_t count, float largest) {
  std::int32_t bits = magnitude_bits(largest);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t next = magnitude_bits(values[i]);
    bits = next > bits ? next : bits;
  }
  return std::bit_cast<float>(bits);
}

void raise_each(const float* __restrict values, std::int64_t count, float* __restrict largest) {
  for (std::int64_t i = 0; i < count; ++i) largest[i] = larger_magnitude(largest[i], values[i]);
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

/// per_column: a scale for each value; otherwise scale[0] for all of them.
template <bool per_column>
void nearest_run(const float* __restrict values, std::int64_t count, const float* __restrict scale,
                 float level, std::int8_t* __restrict out) {
  const float common = scale[0];
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int8_t>(
        round_nearest(scaled_to_level(values[i], per_column ? scale[i] : common, level)));
}

template <bool per_column>
void stochastic_run(const float* __restrict values, std::int64_t count,
                    const float* __restrict scale, float level,
                    const std::uint32_t* __restrict words, std::int8_t* __restrict out) {
  const float common = scale[0];
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int8_t>(round_stochastic(
        scaled_to_level(values[i], per_column ? scale[i] : common, level), words[i]));
}

/// The random words of `groups` groups of four elements from `first_group` on.
void fill_words(std::uint64_t seed, std::uint64_t first_group, std::int64_t groups,
                std::uint32_t* __restrict words) {
  for (std::int64_t i = 0; i < groups; ++i) {
    const PhiloxWords four = rounding_words(seed, first_group + static_cast<std::uint64_t>(i));
    for (int lane = 0; lane < 4; ++lane) words[4 * i + lane] = four.word[lane];
  }
}

/// Rounds the `count` values whose first one has index `first` in the whole matrix.
template <bool per_column>
void quantize_run(const float* values, std::int64_t count, const float* scale, float level,
                  const RoundingRule& rounding, std::int64_t first, std::int8_t* out) {
  if (rounding.mode == Rounding::nearest) {
    nearest_run<per_column>(values, count, scale, level, out);
    return;
  }
  std::uint32_t words[kRunFloats + 8];
  for (std::int64_t done = 0; done < count; done += kRunFloats) {
    const std::int64_t some = smaller(kRunFloats, count - done);
    const std::int64_t lane = (first + done) % 4;
    fill_words(rounding.seed, static_cast<std::uint64_t>((first + done) / 4), (lane + some + 3) / 4,
               words);
    stochastic_run<per_column>(values + done, some, per_column ? scale + done : scale, level,
                               words + lane, out + done);
  }
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
