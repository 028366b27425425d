#pragma once

#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/number.hpp"
#include "kernels/level_layout.hpp"
#include "kernels/ops.hpp"

// The passes of HOT's backward on a GPU, and the same kernels run by the simulator: one table, two
// fillings.

namespace hot::kernels {

enum class Element { f32, f16, bf16 };

/// A matrix in device memory, strides in elements; nothing is owned.
struct DeviceMatrix {
  const void* data = nullptr;
  Element element = Element::f32;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 1;
};

/// One scale, or one for each vector of the dimension that isn't contracted.
enum class ScaleGroup { one, each_free };

/// The group of `granularity` for an operand contracted `along`. Throws std::logic_error for a
/// scale that would vary along the contraction.
[[nodiscard]] inline ScaleGroup scale_group(Granularity granularity, Along along) {
  if (granularity == Granularity::tensor) return ScaleGroup::one;
  const bool by_row = granularity == Granularity::row;
  if (by_row != (along == Along::cols))
    throw std::logic_error(
        "a scale that varies along the contracted dimension can't leave the GEMM");
  return ScaleGroup::each_free;
}

/// Everything is put onto `stream` (a cudaStream_t) and not waited for; pointers are device memory.
/// All throw std::logic_error for a transform that can't be, std::runtime_error where CUDA fails.
struct DevicePasses {
  const char* name;  ///< "cuda", "sim"

  /// Raises `largest` (one, or one a free vector; zeros at first) to the largest magnitudes of the
  /// transformed operand; NaN above all.
  void (*transform_abs_max)(void* stream, const DeviceMatrix& in, Along along,
                            const Transform& transform, ScaleGroup group, float* largest);

  /// Magnitudes to scales, in place.
  void (*make_scales)(void* stream, float* largest, std::int64_t count, Format format);

  /// Levels of the transformed operand, laid out as level_layout says. Random words are those of
  /// the row-major transformed matrix, as on the CPU.
  void (*transform_quantize)(void* stream, const DeviceMatrix& in, Along along,
                             const Transform& transform, Format format, ScaleGroup group,
                             const float* scales, const RoundingRule& rounding, bool packed,
                             std::int8_t* out);

  /// out[i][j] = in[i][j] · ((factor · row scale) · column scale); pitches in elements.
  void (*dequantize)(void* stream, const std::int32_t* in, std::int64_t in_pitch, std::int64_t rows,
                     std::int64_t cols, float factor, const float* row_scales,
                     std::int64_t row_count, const float* col_scales, std::int64_t col_count,
                     Element element, void* out, std::int64_t out_pitch);

  /// Packed levels to bytes; `bytes` of `packed`, a multiple of 8.
  void (*unpack)(void* stream, const std::int8_t* packed, std::int64_t bytes, std::int8_t* out);
};

/// The passes by CUDA (only linked where the toolkit is), and by the simulator.
[[nodiscard]] const DevicePasses& cuda_passes();
[[nodiscard]] const DevicePasses& sim_passes();

}  // namespace hot::kernels
