#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/quantize.hpp"
#include "kernels/formats/minifloat.hpp"

// FP8 numbers as the bytes that tensor cores read (OCP OFP8): sign, exponent, mantissa. The same
// roundings as the simulated formats.

namespace hot::kernels {

/// Both OFP8 formats have NaN here.
constexpr std::uint32_t kFp8Nan = 0x7f;

/// Code of one of the format's magnitudes, subnormals among them.
constexpr std::uint32_t fp8_code_of(const Minifloat& f, float magnitude) {
  if (magnitude < power_of_two(f.least_exponent))
    return static_cast<std::uint32_t>(magnitude * power_of_two(f.mantissa_bits - f.least_exponent));
  const int bias = 1 - f.least_exponent;
  return (std::bit_cast<std::uint32_t>(magnitude) >> (23 - f.mantissa_bits)) -
         (static_cast<std::uint32_t>(127 - bias) << f.mantissa_bits);
}

/// v / scale rounded to the format, by sixteen random bits where `draws`; what lies beyond the
/// largest number is cut to it, NaN stays.
constexpr std::uint32_t fp8_code(const Minifloat& f, float v, float scale, bool draws,
                                 std::uint32_t bits) {
  const float t = std::bit_cast<float>(magnitude_bits(v)) / scale;
  if (magnitude_bits(t) > 0x7f800000) return kFp8Nan;
  const Neighbours n = around(f, t);
  float magnitude = nearest(n, t < n.high ? t : n.high);
  if (draws && n.low != n.high) magnitude = stochastic(n, t, uniform_of(bits));
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(v) >> 24 & 0x80U;
  return sign | fp8_code_of(f, magnitude);
}

}  // namespace hot::kernels
