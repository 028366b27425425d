// Levels put into the orders that GEMMs read, through tiles in the first-level cache. Part of
// loops.hpp; internal linkage.
#pragma once

#include "kernels/cpu/tiles.hpp"

namespace hot::kernels {
namespace {

/// Rows of a tile: a cache line of a column. Columns: four panels.
constexpr std::int64_t kTileRows = 64;
constexpr std::int64_t kTileCols = 4 * kPanel;

/// The largest multiple of `step` that isn't above `value`, and at least one step.
constexpr std::int64_t smaller_multiple(std::int64_t value, std::int64_t step) {
  return value < step ? step : value / step * step;
}

/// Blocks of `kept` rows that together are whole groups of packed rows.
constexpr std::int64_t blocks_of_whole_groups(std::int64_t kept) {
  return kept % 4 == 0 ? 1 : kept % 2 == 0 ? 2 : 4;
}

/// Levels row by row, with zeros up to whole groups of rows and steps of columns.
struct LevelTile {
  std::int64_t rows = 0, cols = 0;
  std::int64_t padded_rows = 0, pitch = 0;
  std::vector<std::int8_t> levels;

  std::int8_t* at(std::int64_t row) { return levels.data() + row * pitch; }
  const std::int8_t* at(std::int64_t row) const { return levels.data() + row * pitch; }

  /// Room for rows × cols, and the zeros around them.
  void reserve() {
    pitch = rounded_up(cols, kPanelStep);
    padded_rows = rounded_up(rows, kPackedRows * kLanes);
    if (const auto size = static_cast<std::size_t>(padded_rows * pitch); levels.size() < size)
      levels.resize(size);
    for (std::int64_t r = 0; r < rows && cols < pitch; ++r)
      std::fill(at(r) + cols, at(r) + pitch, std::int8_t{0});
    std::fill(at(rows), at(padded_rows), std::int8_t{0});
  }
};

/// kLanes levels of each of kPackedRows rows, a column's side by side.
inline Ints grouped(const std::int8_t* rows, std::int64_t pitch) {
  using Words [[gnu::vector_size(4 * kLanes)]] = std::uint32_t;
  const auto row = [&](std::int64_t r) {
#if HOT_VECTOR_FLOATS == 16
    __m128i bytes;
    std::memcpy(&bytes, rows + r * pitch, sizeof(bytes));
    return reinterpret_cast<Words>(_mm512_maskz_cvtepu8_epi32(0xffff, bytes));
#elif HOT_VECTOR_FLOATS == 8
    std::int64_t bytes = 0;
    std::memcpy(&bytes, rows + r * pitch, sizeof(bytes));
    return reinterpret_cast<Words>(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(bytes)));
#else
    Words wide;
    for (int i = 0; i < kLanes; ++i) wide[i] = static_cast<std::uint8_t>(rows[r * pitch + i]);
    return wide;
#endif
  };
  return reinterpret_cast<Ints>(row(0) | row(1) << 8 | row(2) << 16 | row(3) << 24);
}

/// A tile whose first element is (row, col), into panels.
inline void pack_tile(const LevelTile& tile, std::int64_t row, std::int64_t col,
                      const LevelsOut& out) {
  const std::int64_t groups = (tile.rows + kPackedRows - 1) / kPackedRows;
  for (std::int64_t c = 0; c < tile.pitch; c += kPanel) {
    const std::int64_t panel = (col + c) / kPanel;
    const std::int64_t width = panel_width(out.cols, panel);
    const std::int64_t count = smaller(width, tile.pitch - c);
    std::int8_t* to = out.data + panel_start(out.rows, panel) + row * width;
    for (std::int64_t g = 0; g < groups; ++g)
      for (std::int64_t i = 0; i < count; i += kLanes) {
        const Ints words = grouped(tile.at(g * kPackedRows) + c + i, tile.pitch);
        std::memcpy(to + (g * width + i) * kPackedRows, &words, sizeof(words));
      }
  }
}

/// The same, column by column.
inline void turn_tile(const LevelTile& tile, std::int64_t row, std::int64_t col,
                      const LevelsOut& out) {
  constexpr std::int64_t kHeight = kPackedRows * kLanes;
  for (std::int64_t r = 0; r < tile.rows; r += kHeight) {
    const auto height = static_cast<std::size_t>(smaller(kHeight, tile.rows - r));
    for (std::int64_t c = 0; c < tile.cols; c += kLanes) {
      Floats words[kLanes];
#pragma GCC unroll 16
      for (int g = 0; g < kLanes; ++g)
        words[g] = reinterpret_cast<Floats>(grouped(tile.at(r + g * kPackedRows) + c, tile.pitch));
      transpose(words);
      std::int8_t* to = out.data + (col + c) * out.rows + row + r;
      const std::int64_t count = smaller(kLanes, tile.cols - c);
      if (height == sizeof(Floats))
        for (std::int64_t i = 0; i < count; ++i)
          std::memcpy(to + i * out.rows, &words[i], sizeof(Floats));
      else
        for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * out.rows, &words[i], height);
    }
  }
}

inline void place_tile(const LevelTile& tile, std::int64_t row, std::int64_t col,
                       const LevelsOut& out) {
  switch (out.order) {
    case Order::packed:
      return pack_tile(tile, row, col, out);
    case Order::columns:
      return turn_tile(tile, row, col, out);
    case Order::rows:
      for (std::int64_t r = 0; r < tile.rows; ++r)
        std::memcpy(out.data + (row + r) * out.cols + col, tile.at(r),
                    static_cast<std::size_t>(tile.cols));
  }
}

}  // namespace
}  // namespace hot::kernels
