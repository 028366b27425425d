#pragma once

#include <stdexcept>

#include "core/native_formats.hpp"
#include "kernels/formats/minifloat.hpp"
#include "kernels/level_layout.hpp"

namespace hot::kernels {

/// Throws std::logic_error for a format that isn't FP8.
[[nodiscard]] constexpr Minifloat minifloat_of(Format format) {
  if (!is_fp8(format)) throw std::logic_error("no FP8 format");
  return format == Format::fp8e4m3 ? kE4M3 : kE5M2;
}

/// One factor of a product of FP8 numbers.
struct Fp8Factor {
  const std::int8_t* numbers = nullptr;  ///< bytes as `layout` says
  LevelLayout layout;
  Format format = Format::fp8e4m3;
  const float* scale = nullptr;
};

}  // namespace hot::kernels
