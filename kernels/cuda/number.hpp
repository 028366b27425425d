#pragma once

#include <bit>
#include <cstdint>

#include "kernels/common/host_device.hpp"

// The element types of operands and results on a GPU, by their bits: the same conversions on host
// and device, so that a simulated kernel sees the numbers that a GPU sees.

namespace hot::kernels {

/// IEEE binary16.
struct Half {
  std::uint16_t bits = 0;
};

/// The upper half of a binary32.
struct Bfloat16 {
  std::uint16_t bits = 0;
};

HOT_HOST_DEVICE constexpr float to_float(float v) {
  return v;
}

HOT_HOST_DEVICE constexpr float to_float(Bfloat16 v) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(v.bits) << 16);
}

/// Exact: the exponent is moved by a multiplication, which also makes denormals normal.
HOT_HOST_DEVICE constexpr float to_float(Half v) {
  const std::uint32_t sign = static_cast<std::uint32_t>(v.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(v.bits & 0x7fffU) << 13;
  if (magnitude >= 0x0f800000U) return std::bit_cast<float>(sign | magnitude | 0x70000000U);
  return std::bit_cast<float>(
      sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F));
}

/// `v` rounded to the nearest number of type T, halves to even; NaN stays NaN.
template <class T>
HOT_HOST_DEVICE constexpr T from_float(float v);

template <>
HOT_HOST_DEVICE constexpr float from_float<float>(float v) {
  return v;
}

template <>
HOT_HOST_DEVICE constexpr Bfloat16 from_float<Bfloat16>(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>(bits >> 16 | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}

template <>
HOT_HOST_DEVICE constexpr Half from_float<Half>(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t rounded = 0;
  if (magnitude > 0x7f800000U) {
    rounded = 0x7e00U;
  } else if (magnitude >= 0x47800000U) {  // 65536 and more, infinity
    rounded = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // below 2^-14: one addition rounds to units of 2^-24
    rounded = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  } else {
    rounded = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
  }
  return {static_cast<std::uint16_t>(sign | rounded)};
}

}  // namespace hot::kernels
