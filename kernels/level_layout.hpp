#pragma once

#include <cstdint>

#include "kernels/ops.hpp"

namespace hot::kernels {

/// How a GPU's levels lie: `free` vectors with the contracted dimension contiguous, both padded
/// with zero levels to what integer tensor cores want.
struct LevelLayout {
  std::int64_t terms = 0;  ///< contracted length of the transformed matrix
  std::int64_t free = 0;
  std::int64_t pitch = 0;        ///< bytes from vector to vector, a multiple of 16
  std::int64_t padded_free = 0;  ///< vectors, a multiple of 16
  bool packed = false;           ///< two levels a byte, the even term in the low nibble

  [[nodiscard]] std::int64_t bytes() const { return pitch * padded_free; }
  /// Bytes of a vector that a product reads: all terms, and zeros up to a multiple of 16.
  [[nodiscard]] std::int64_t vector_bytes() const;
};

/// Layout of the quantized operand [rows × cols] contracted `along`.
[[nodiscard]] LevelLayout level_layout(std::int64_t rows, std::int64_t cols, Along along,
                                       const Transform& transform, bool packed);

/// Terms [first, first + count) of levels that aren't packed; `first` is a multiple of 16. The
/// part's bytes begin at `first`, and what lies behind `count` must be zeros up to the next
/// multiple of 16 or belong to the whole.
[[nodiscard]] LevelLayout part_of(const LevelLayout& whole, std::int64_t first, std::int64_t count);

}  // namespace hot::kernels
