#pragma once

/// The number formats of quantized operands (methods.md, section 2). Bits and levels are `bits` and
/// `max_level` of core/scheme.hpp; rounding and scales are in quantize.hpp.
///
/// none: float32, 24-bit significand, no scale. The product is a float GEMM; its error is float
/// rounding alone.
///
/// int8: symmetric, levels −127 … 127 (−128 is never used, so that negation stays inside the
/// format). Value = level · scale with a float32 scale = largest magnitude / 127. One level a byte,
/// two's complement, row-major. A product of two int8 operands is exact in int32 up to k = 133,144
/// terms.
///
/// int4: symmetric, levels −7 … 7 (−8 is never used). Value = level · scale with a float32 scale =
/// largest magnitude / 7. Held one level a byte here, like int8, because the integer GEMMs on CPUs
/// take bytes. What forward keeps for backward is packed: two levels a byte, the even one in the
/// low half, two's complement (kernels/stored.hpp). A product of two int4 operands is exact in
/// int32 up to k = 43,826,196 terms.
///
/// The other formats are rounded to their numbers in float32 (kernels/formats, one file each).
///
/// Groups: a scale belongs to the whole operand (tensor), to each row, or to each column. Only a
/// group that doesn't vary along the contracted dimension can be taken out of one integer GEMM;
/// block<k> takes one for each k indices of it.

#include <cstdint>

#include "core/scheme.hpp"

namespace hot::kernels {

/// Number of scales of a [rows × cols] operand.
[[nodiscard]] constexpr std::int64_t scale_count(Granularity granularity, std::int64_t rows,
                                                 std::int64_t cols) {
  switch (granularity) {
    case Granularity::row:
      return rows;
    case Granularity::column:
      return cols;
    case Granularity::tensor:
    case Granularity::block:
      break;
  }
  return 1;
}

/// Terms that a sum of products of levels up to `level` may have and still be below 2^bits in
/// magnitude.
[[nodiscard]] constexpr std::int64_t exact_terms(int level, int bits) {
  return ((std::int64_t{1} << bits) - 1) / (std::int64_t{level} * level);
}

static_assert(exact_terms(127, 31) == 133144 && exact_terms(7, 31) == 43826196);

}  // namespace hot::kernels
