#pragma once

#include <bit>
#include <cstdint>

#include "kernels/formats/float_format.hpp"

namespace hot::kernels {

/// A small float with subnormals and no infinity in use: magnitudes k · 2^(e − mantissa_bits) for
/// e ≥ least_exponent, up to `largest`.
struct Minifloat {
  int mantissa_bits;
  int least_exponent;  ///< of normal numbers
  float largest;
};

inline constexpr Minifloat kE4M3{3, -6, 448};
inline constexpr Minifloat kE5M2{2, -14, 57344};
inline constexpr Minifloat kE2M1{1, 0, 6};

/// 2^e for −126 ≤ e ≤ 127.
constexpr float power_of_two(int e) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

/// ⌊log2 v⌋ of a positive normal number; −127 for zero and subnormals.
constexpr int exponent_of(float v) {
  return static_cast<int>(std::bit_cast<std::uint32_t>(v) >> 23 & 0xffU) - 127;
}

/// The format's numbers around t ≥ 0, no NaN.
constexpr Neighbours around(const Minifloat& f, float t) {
  if (t >= f.largest) return {f.largest, f.largest, true};
  const int exponent = exponent_of(t) < f.least_exponent ? f.least_exponent : exponent_of(t);
  const float step = power_of_two(exponent - f.mantissa_bits);
  const auto k = static_cast<std::int32_t>(t / step);  // exact: a power of two
  const float low = static_cast<float>(k) * step;
  return {low, low == t ? low : low + step, k % 2 == 0};
}

template <Minifloat f>
constexpr Neighbours around_in(float t) {
  return around(f, t);
}

/// Scale that takes `largest` to the format's largest number; 1 for zeros.
template <Minifloat f>
constexpr float scale_to_largest(float largest) {
  const float scale = largest / f.largest;
  return scale == 0.0F ? 1.0F : scale;
}

/// Scale of an OCP MX block (Microscaling Formats v1.0, section 6.3): 2^(⌊log2 largest⌋ − e) with e
/// the exponent of the format's largest number, inside e8m0. What is then over the largest number
/// is cut to it.
template <Minifloat f>
constexpr float power_of_two_scale(float largest, float /*shared*/) {
  if (exponent_of(largest) == 128) return largest;  // infinite or NaN: carried on
  const int exponent = exponent_of(largest) - exponent_of(f.largest);
  return power_of_two(exponent < -126 ? -126 : exponent);
}

/// The part that all blocks share, where there is none.
constexpr float no_shared_scale(float /*largest*/) {
  return 1;
}

}  // namespace hot::kernels
