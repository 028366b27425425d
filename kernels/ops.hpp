#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/scheme.hpp"
#include "kernels/levels.hpp"

namespace hot::kernels {

/// Which dimension of a 2-D operand is contracted by the product, and so transformed.
/// grad_input: gy [L×O] along cols, W [O×I] along rows. grad_weight: gy [L×O] and x [L×I] along
/// rows.
enum class Along { rows, cols };

/// A float32 matrix with strides in elements; nothing is owned.
struct MatrixView {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;
};

/// Length of a contracted dimension of `length` after `transform`: padded to whole blocks, `rank`
/// kept of each.
[[nodiscard]] std::int64_t transformed_length(std::int64_t length, const Transform& transform);

/// How quantize turns a quotient into an integer. Element i (row-major, of the matrix that is
/// quantized) draws sixteen bits of Philox4x32-10 with key = seed and counter = i div 8, whatever
/// the thread, the part or the backend (common/philox.hpp).
struct RoundingRule {
  Rounding mode = Rounding::nearest;
  std::uint64_t seed = 0;
};

/// The operations of one backend (design.md, "Kernels"). Each runs on one thread over a whole
/// matrix or a part of it: a range of whole rows, of whole blocks of rows where the rows are
/// transformed; transform_quantize along rows also over a range of columns of those. Outputs belong
/// to the caller; floats are row-major and start at the part's first element. The values are those
/// of the transformed matrix: ±1 Sylvester blocks, no 1/n, zero padded, the contracted dimension
/// replaced by transformed_length(). Transform::Kind::none leaves them.
struct Ops {
  const char* name;  ///< "portable", "avx2" …

  /// The transformed matrix itself.
  void (*transform)(const MatrixView& in, Along along, const Transform& transform, float* out);

  /// Raises `largest` (one, `rows` or `cols` of the transformed part) to the largest magnitudes of
  /// the transformed values without storing them; NaN where any value of the group is NaN.
  void (*transform_abs_max)(const MatrixView& in, Along along, const Transform& transform,
                            Granularity granularity, float* largest);

  /// Integers round(v / scale) of the transformed values, inside the format's levels. `scales` are
  /// those of the part's rows, or of all columns, and no value is 2¹²⁸ times its scale or more. The
  /// padding of a packed matrix is written with its last rows and columns.
  void (*transform_quantize)(const MatrixView& in, Along along, const Transform& transform,
                             Format format, Granularity granularity, const float* scales,
                             const RoundingRule& rounding, const LevelsOut& out);

  /// Both for one scale a row, which is written to scales: each row is read once and stays in cache
  /// between the two.
  void (*transform_quantize_rows)(const MatrixView& in, Along along, const Transform& transform,
                                  Format format, const RoundingRule& rounding, float* scales,
                                  const LevelsOut& out);

  /// Levels that lie row by row, `rows` of out.cols each, put into another order.
  void (*arrange)(const std::int8_t* in, std::int64_t rows, const LevelsOut& out);

  /// INT4 levels two a byte, the even one in the low half, two's complement; `count` levels, a last
  /// odd one alone.
  void (*pack_int4)(const std::int8_t* levels, std::int64_t count, std::uint8_t* packed);

  /// The way back.
  void (*unpack_int4)(const std::uint8_t* packed, std::int64_t count, std::int8_t* levels);

  /// out[j][i] = in[i][j]; rows are `in_stride` and `out_stride` floats apart.
  void (*transpose)(const float* in, std::int64_t in_stride, std::int64_t rows, std::int64_t cols,
                    float* out, std::int64_t out_stride);

  /// out[i][j] = float(in[i][j]) · ((factor · row_scales[i or 0]) · col_scales[j or 0]); a count of
  /// 1 means one scale. Rows are `in_stride` and `out_stride` elements apart. `out` may be the
  /// memory of `in`.
  void (*dequantize)(const std::int32_t* in, std::int64_t in_stride, std::int64_t rows,
                     std::int64_t cols, float factor, const float* row_scales,
                     std::int64_t row_count, const float* col_scales, std::int64_t col_count,
                     float* out, std::int64_t out_stride);

  /// The same, added to `sums`: each value is rounded to float32 before it is added.
  void (*add_dequantized)(const std::int32_t* in, std::int64_t in_stride, std::int64_t rows,
                          std::int64_t cols, float factor, const float* row_scales,
                          std::int64_t row_count, const float* col_scales, std::int64_t col_count,
                          float* sums, std::int64_t sums_stride);

  /// dequantize of integers that a float GEMM left in float32, in place.
  void (*dequantize_in_place)(float* values, std::int64_t rows, std::int64_t cols, float factor,
                              const float* row_scales, std::int64_t row_count,
                              const float* col_scales, std::int64_t col_count);
};

/// The CPU backends that this machine can run, slowest first.
[[nodiscard]] std::span<const Ops* const> available_cpu_ops();

/// The backend called `name`, or the fastest for an empty name. Throws UsageError when there is
/// none of that name or this CPU lacks it, naming those that exist.
[[nodiscard]] const Ops& select_cpu_ops(std::string_view name);

/// The CPU backend in force: the one that HOT_CPU names, else the fastest. Throws like
/// select_cpu_ops.
[[nodiscard]] const Ops& cpu_ops();

}  // namespace hot::kernels
