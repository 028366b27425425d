#pragma once

#include <cstdint>

namespace hot::kernels {

/// How the int8 levels of a [rows × cols] matrix lie in memory, so that a GEMM reads them where
/// they are: rows as its left factor, columns as its left factor transposed, packed as its right
/// one.
///
/// packed: panels of kPanel columns one after the other, the last one as wide as the rest rounded
/// up to kPanelStep; in a panel groups of kPackedRows rows; in a group each column's levels side by
/// side. Rows and columns that the matrix doesn't have are zeros. It is what oneDNN's brgemm
/// kernels call B of 8 bits.
enum class Order { rows, columns, packed };

constexpr std::int64_t kPanel = 64;
constexpr std::int64_t kPanelStep = 16;
constexpr std::int64_t kPackedRows = 4;

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

/// Columns that panel `index` of a matrix of `cols` columns has room for.
constexpr std::int64_t panel_width(std::int64_t cols, std::int64_t index) {
  const std::int64_t rest = rounded_up(cols, kPanelStep) - index * kPanel;
  return rest < kPanel ? rest : kPanel;
}

/// Bytes from the start to panel `index`.
constexpr std::int64_t panel_start(std::int64_t rows, std::int64_t index) {
  return index * kPanel * rounded_up(rows, kPackedRows);
}

/// Bytes of a packed matrix.
constexpr std::int64_t packed_bytes(std::int64_t rows, std::int64_t cols) {
  return rounded_up(rows, kPackedRows) * rounded_up(cols, kPanelStep);
}

/// Where the levels of a part of a matrix go: from row first_row and column first_col on in a whole
/// of [rows × cols].
struct LevelsOut {
  std::int8_t* data = nullptr;  ///< of the whole matrix
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  Order order = Order::rows;
  std::int64_t first_row = 0;  ///< a multiple of kPackedRows where they are packed
  std::int64_t first_col = 0;  ///< a multiple of kPanel where they are packed
};

}  // namespace hot::kernels
