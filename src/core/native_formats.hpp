#pragma once

#include "core/scheme.hpp"

namespace hot {

/// The formats that tensor cores with FP8 read: one byte a number.
[[nodiscard]] constexpr bool is_fp8(Format format) {
  return format == Format::fp8e4m3 || format == Format::fp8e5m2;
}

/// Whether such tensor cores multiply the two formats: all pairs but two of e5m2, which cuBLASLt
/// has no product for.
[[nodiscard]] constexpr bool fp8_pair(Format a, Format b) {
  return is_fp8(a) && is_fp8(b) && (a == Format::fp8e4m3 || b == Format::fp8e4m3);
}

/// While alive, is_simulated() knows that the device of this run multiplies FP8 numbers: products
/// of fp8e4m3 with fp8e4m3 or fp8e5m2 are not simulated. One at a time.
class NativeFp8 {
 public:
  NativeFp8();
  ~NativeFp8();
  NativeFp8(const NativeFp8&) = delete;
  NativeFp8& operator=(const NativeFp8&) = delete;
};

}  // namespace hot
