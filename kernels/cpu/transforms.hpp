// The transforms of blocks, in registers as far as they go and in cached tiles beyond. Part of
// loops.hpp; internal linkage.
#pragma once

#include "kernels/cpu/vectors.hpp"

namespace hot::kernels {
namespace {

/// Butterflies between rows `distance` apart, for all distances from `from` to order / 2; `height`
/// rows of the tile, whole blocks.
void stages_down(float* tile, std::int64_t from, std::int64_t order, std::int64_t width,
                 std::int64_t pitch) {
  for (std::int64_t distance = from; distance < order; distance *= 2)
    for (std::int64_t block = 0; block < order; block += 2 * distance)
      for (std::int64_t i = block; i < block + distance; ++i) {
        float* __restrict low = tile + i * pitch;
        float* __restrict high = low + distance * pitch;
        for (std::int64_t c = 0; c < width; ++c) butterfly(low[c], high[c]);
      }
}

/// `rows` rows of `width` floats times H_rows, from `source` to `tile` (which may be the same).
template <int rows>
void hadamard_of_rows(const float* source, std::int64_t stride, float* tile, std::int64_t pitch,
                      std::int64_t width) {
  Floats v[rows];
  std::int64_t c = 0;
  for (; c + kLanes <= width; c += kLanes) {
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) load(v[r], source + r * stride + c);
    hadamard_of_vectors(v);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) store(v[r], tile + r * pitch + c);
  }
  if (c == width) return;
  for (int r = 0; r < rows; ++r)
    std::copy(source + r * stride + c, source + r * stride + width, tile + r * pitch + c);
  stages_down(tile + c, 1, rows, width - c, pitch);
}

/// Largest magnitudes over the kept ones of kLanes columns' `rows` transformed values each.
template <int rows>
inline Ints largest_in_registers(const float* source, std::int64_t stride, std::uint32_t kept,
                                 Ints largest) {
  Floats v[rows];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) load(v[r], source + r * stride);
  hadamard_of_vectors(v);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    if ((kept >> r & 1) == 0) continue;
    const Ints magnitudes = reinterpret_cast<Ints>(v[r]) & 0x7fffffff;
    largest = magnitudes > largest ? magnitudes : largest;
  }
  return largest;
}

/// Rows whose butterflies run in registers.
constexpr int kRegisterRows = kLanes == 16 ? 16 : 8;

template <int rows>
void groups_of_rows(const float* source, std::int64_t stride, float* tile, std::int64_t pitch,
                    std::int64_t order, std::int64_t width) {
  for (std::int64_t first = 0; first < order; first += rows)
    hadamard_of_rows<rows>(source + first * stride, stride, tile + first * pitch, pitch, width);
  stages_down(tile, rows, order, width, pitch);
}

/// H_order times `order` rows of `width` floats, `stride` apart, into a tile with `pitch` floats a
/// row. The source may be the tile.
void hadamard_down(const float* source, std::int64_t stride, float* tile, std::int64_t pitch,
                   std::int64_t order, std::int64_t width) {
  switch (order < kRegisterRows ? order : kRegisterRows) {
    case 16:
      return groups_of_rows<kRegisterRows>(source, stride, tile, pitch, order, width);
    case 8:
      return groups_of_rows<8>(source, stride, tile, pitch, order, width);
    case 4:
      return groups_of_rows<4>(source, stride, tile, pitch, order, width);
    case 2:
      return groups_of_rows<2>(source, stride, tile, pitch, order, width);
    default:
      return groups_of_rows<1>(source, stride, tile, pitch, order, width);
  }
}

template <int n>
void hadamard_of_lanes(const float* source, float* row, std::int64_t length) {
  for (std::int64_t i = 0; i < length; i += kLanes) {
    Floats v;
    load(v, source + i);
    hadamard_in_lanes<n>(v);
    store(v, row + i);
  }
}

/// Stages inside a register; `length` is a multiple of kLanes.
void lanes_across(const float* source, float* row, std::int64_t order, std::int64_t length) {
  switch (order < kLanes ? order : kLanes) {
    case 16:
      return hadamard_of_lanes < kLanes < 16 ? kLanes : 16 > (source, row, length);
    case 8:
      return hadamard_of_lanes < kLanes < 8 ? kLanes : 8 > (source, row, length);
    case 4:
      return hadamard_of_lanes<4>(source, row, length);
    case 2:
      return hadamard_of_lanes<2>(source, row, length);
    default:
      return hadamard_of_lanes<1>(source, row, length);
  }
}

/// `length` rounded up to whole registers.
constexpr std::int64_t whole_registers(std::int64_t length) {
  return (length + kLanes - 1) / kLanes * kLanes;
}

/// Each `order` consecutive elements of a row times H_order: `real` floats from `source`, zeros up
/// to `length`, a multiple of `order`. `row` has room for whole_registers(length).
void hadamard_across(const float* source, std::int64_t real, float* row, std::int64_t order,
                     std::int64_t length) {
  const std::int64_t whole = real / kLanes * kLanes;
  const std::int64_t end = whole_registers(length);
  lanes_across(source, row, order, whole);
  if (whole < end) {
    std::copy(source + whole, source + real, row + whole);
    std::fill(row + real, row + end, 0.0F);
    lanes_across(row + whole, row + whole, order, end - whole);
  }
  for (std::int64_t distance = kLanes; distance < order; distance *= 2)
    for (std::int64_t block = 0; block < length; block += 2 * distance) {
      float* __restrict low = row + block;
      float* __restrict high = low + distance;
      for (std::int64_t i = 0; i < distance; ++i) butterfly(low[i], high[i]);
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

}  // namespace
}  // namespace hot::kernels
