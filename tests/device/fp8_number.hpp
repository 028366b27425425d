#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/native_formats.hpp"

namespace hot::kernels {

/// The number that a byte stands for, by the definition of OCP OFP8.
inline float fp8_number(std::uint8_t byte, Format format) {
  const int mantissa_bits = format == Format::fp8e4m3 ? 3 : 2;
  const int bias = format == Format::fp8e4m3 ? 7 : 15;
  const int exponent = (byte & 0x7f) >> mantissa_bits;
  const int mantissa = byte & ((1 << mantissa_bits) - 1);
  const float sign = byte >= 0x80 ? -1.0F : 1.0F;
  if ((byte & 0x7f) == 0x7f) return std::numeric_limits<float>::quiet_NaN();
  if (format == Format::fp8e5m2 && exponent == 31)
    return mantissa == 0 ? sign * std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0)
    return sign * std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissa_bits);
  return sign * std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)),
                           exponent - bias - mantissa_bits);
}

}  // namespace hot::kernels
