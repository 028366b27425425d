#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace hot::kernels {

/// Bits of |v| as an integer: ordered like the magnitudes, with infinity above all numbers and NaN
/// above infinity.
HOT_HOST_DEVICE constexpr std::int32_t magnitude_bits(float v) {
  return std::bit_cast<std::int32_t>(v) & 0x7fffffff;
}

/// The larger of two magnitudes; NaN if either is NaN.
HOT_HOST_DEVICE constexpr float larger_magnitude(float a, float b) {
  const std::int32_t x = magnitude_bits(a);
  const std::int32_t y = magnitude_bits(b);
  return std::bit_cast<float>(x > y ? x : y);
}

/// Scale of a group whose largest magnitude is `largest`: largest / level, and 1 for a group of
/// zeros (or one so small that the quotient is zero). A NaN or infinite element gives a NaN or
/// infinite scale, and so a product that isn't finite.
HOT_HOST_DEVICE constexpr float scale_for(float largest, float level) {
  const float scale = largest / level;
  return scale == 0.0F ? 1.0F : scale;
}

/// v / scale kept inside ±level; `level` for NaN, whose scale carries the NaN on.
HOT_HOST_DEVICE constexpr float scaled_to_level(float v, float scale, float level) {
  float t = v / scale;
  t = t < level ? t : level;
  return t > -level ? t : -level;
}

/// t rounded to the nearest integer, halves to even. |t| < 2²²; needs the default rounding mode and
/// strict arithmetic.
HOT_HOST_DEVICE constexpr std::int32_t round_nearest(float t) {
  constexpr float kShift =
      12582912.0F;  // 1.5 · 2²³: sums near it have a unit in the last place of 1
  return static_cast<std::int32_t>((t + kShift) - kShift);
}

/// The number in (0, 1) that sixteen random bits stand for: the middle of one of 65,536 parts, so
/// that an integer always stays and the draws have the mean 1/2.
HOT_HOST_DEVICE constexpr float uniform_of(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-16F + 0x1p-17F;
}

/// t rounded up with probability t − ⌊t⌋ (to within 2⁻¹⁷), else down, by sixteen random bits.
HOT_HOST_DEVICE constexpr std::int32_t round_stochastic(float t, std::uint32_t bits) {
  const auto truncated = static_cast<std::int32_t>(t);
  const std::int32_t floor = truncated - (static_cast<float>(truncated) > t ? 1 : 0);
  const float fraction = t - static_cast<float>(floor);
  return floor + (uniform_of(bits) < fraction ? 1 : 0);
}

}  // namespace hot::kernels
