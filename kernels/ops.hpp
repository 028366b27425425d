#pragma once

#include <cstdint>
#include <string>

#include "core/scheme.hpp"

namespace hot::kernels {

/// Which dimension of a 2-D operand is contracted by the product, and so transformed.
/// grad_input: gy [L×O] along cols, W [O×I] along rows. grad_weight: gy [L×O] and x [L×I] along rows.
enum class Along { rows, cols };

/// A float32 matrix with strides in elements; nothing is owned.
struct MatrixView {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
};

/// Length of a contracted dimension of `length` after `transform`: padded to whole blocks, `rank` kept of each.
[[nodiscard]] std::int64_t transformed_length(std::int64_t length, const Transform& transform);

/// The operations of one backend (design.md, "Kernels"); all outputs are row-major and owned by the caller.
struct Ops {
  const char* name;  ///< "portable", "avx2" …

  /// Block transform with the ±1 Sylvester matrix (no 1/n), zero padded. `out` has the contracted dimension
  /// replaced by transformed_length().
  void (*transform)(const MatrixView& in, Along along, const Transform& transform, float* out);

  /// Largest magnitude of the transformed matrix without storing it; NaN if any element is NaN.
  float (*transform_abs_max)(const MatrixView& in, Along along, const Transform& transform);

  /// Scales s = max|v| / max_level(format) of a row-major matrix: 1, `rows` or `cols` of them; 1 for an all-zero group.
  void (*find_scales)(const float* in, std::int64_t rows, std::int64_t cols, Format format,
                      Granularity granularity, float* scales);

  /// Integers round(v/s), clamped to the format's levels. `stochastic` draws from Philox4x32-10 with key = seed and
  /// counter = element index of `in`, so that results depend on no thread count and no backend.
  void (*quantize)(const float* in, std::int64_t rows, std::int64_t cols, Format format,
                   Granularity granularity, const float* scales, Rounding rounding,
                   std::uint64_t seed, std::int8_t* out);

  /// out[i][j] = in[i][j] · factor · row_scales[i or 0] · col_scales[j or 0]; a count of 1 means one scale for all.
  void (*dequantize)(const std::int32_t* in, std::int64_t rows, std::int64_t cols, float factor,
                     const float* row_scales, std::int64_t row_count, const float* col_scales,
                     std::int64_t col_count, float* out);
};

/// The CPU backend in force. Throws UsageError when HOT_CPU names one that does not exist or that this CPU lacks.
[[nodiscard]] const Ops& cpu_ops();

}  // namespace hot::kernels
