#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/scheme.hpp"
#include "kernels/level_layout.hpp"
#include "kernels/ops.hpp"

// The two gradients of one layer by a scheme, on tensors. Operands are 2-D float32 tensors of any
// strides, on the CPU or on a device that has a backend (device_backend.hpp), where they stay;
// anything else, and combinations that can't be one integer GEMM, are bugs of the caller:
// std::logic_error. Nothing here records gradients or dispatches through autograd. Results
// don't depend on the number of threads where integers are concerned.

namespace hot::kernels {

struct MatrixSize {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// One factor of a backward product, transformed along the contracted dimension and, unless format
/// is none, quantized.
struct Operand {
  at::Tensor values;  ///< [rows, cols]; int8 for integer formats (int4 unpacked), else float32
  at::Tensor scales;  ///< float32 [1], [rows] or [cols]; undefined when format is none
  Along along = Along::rows;
  Transform transform;
  Format format = Format::none;  ///< none for simulated formats too: values are the rounded floats
  Granularity granularity = Granularity::tensor;
  /// Where `values` are levels packed for a GEMM (levels.hpp, one-dimensional): the size of the
  /// matrix.
  std::optional<MatrixSize> packed = std::nullopt;
  /// Where `values` are levels on a device (one-dimensional): how they lie.
  std::optional<LevelLayout> layout = std::nullopt;
  int block = 0;  ///< Granularity::block: k; scales has one for each index of the contraction
  /// Outlier extraction: nothing is done to `values` yet, multiply() does it all, with `seed`.
  std::optional<Scheme> deferred = std::nullopt;
  std::uint64_t seed = 0;
};

/// Sizes of an operand's matrix.
[[nodiscard]] MatrixSize size_of(const Operand& operand);

/// Its values as a matrix [rows, cols]; a copy only where they are packed, in panels or two a byte.
[[nodiscard]] at::Tensor matrix_of(const Operand& operand);

/// `a` transformed; float32, contiguous. `a` itself where there is nothing to do.
[[nodiscard]] at::Tensor transformed(const at::Tensor& a, Along along, const Transform& transform);

/// Scales of an already transformed matrix: largest magnitude / max_level(format); 1 for a group of
/// zeros.
[[nodiscard]] at::Tensor scales_of(const at::Tensor& transformed, Format format,
                                   Granularity granularity);

/// Quantizes an already transformed matrix with given scales (which may come from a larger matrix
/// that it is part of).
[[nodiscard]] Operand quantized(const at::Tensor& transformed, Along along,
                                const Transform& transform, Format format, Granularity granularity,
                                const at::Tensor& scales, Rounding rounding, std::uint64_t seed);

/// transformed + scales_of + quantized, with the transformed matrix never stored; for Format::none
/// just the transform.
[[nodiscard]] Operand prepare(const at::Tensor& a, Along along, const Transform& transform,
                              Format format, Granularity granularity, Rounding rounding,
                              std::uint64_t seed);

/// What becomes of a matrix. The operand's transform is the flat one that remains of the recipe's
/// (flat_transform()); of a patch none remains.
struct Recipe {
  Along along = Along::rows;
  Transform transform;
  Format format = Format::none;
  Granularity granularity = Granularity::tensor;
  Rounding rounding = Rounding::nearest;
  std::uint64_t seed = 0;
  Order order = Order::rows;                      ///< of levels; floats lie by rows
  int block = 0;                                  ///< k of Granularity::block
  bool as_floats = false;                         ///< the numbers level · scale instead of levels
  std::optional<Scheme> deferred = std::nullopt;  ///< see Operand
};

/// A float32 matrix that is made when it is needed: fill(begin, end, first, count, out) writes rows
/// [begin, end) of columns [first, first + count), row-major with `count` floats a row, from
/// several threads.
struct RowSource {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t strip = 0;  ///< asked-for columns are whole strips of so many; 0: all of them
  std::function<void(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count,
                     float* out)>
      fill;
};

/// Several operands of one matrix, each as prepare() makes it. The matrix is read once where every
/// scale belongs to a row, else twice; of a RowSource no more than a piece exists at a time in
/// each thread.
[[nodiscard]] std::vector<Operand> prepare_all(const at::Tensor& a,
                                               std::span<const Recipe> recipes);
[[nodiscard]] std::vector<Operand> prepare_all(const RowSource& a, std::span<const Recipe> recipes);

/// The values that an operand stands for: level · scale, float32 [rows, cols]; still transformed,
/// without 1/n.
[[nodiscard]] at::Tensor dequantized(const Operand& operand);

/// The product of two operands over their contracted dimensions: [free(a), free(b)] float32, scales
/// and 1/n applied. Integer products where both have the same integer format, one for each block of
/// the contraction with Granularity::block; else floats. Throws std::logic_error when transforms or
/// lengths differ, or a scale varies along the contraction otherwise.
[[nodiscard]] at::Tensor multiply(const Operand& a, const Operand& b);

/// The exact sums of the product of two operands in an integer format, without scales and 1/n:
/// int32 [free(a), free(b)]. Throws like multiply(), and where int32 can't hold them.
[[nodiscard]] at::Tensor integer_sums(const Operand& a, const Operand& b);

/// gx = gy·W by `scheme`: gy [L×O], w [O×I] → [L×I] (methods.md, section 1). `seed` feeds
/// stochastic rounding alone.
[[nodiscard]] at::Tensor grad_input(const at::Tensor& gy, const at::Tensor& w, const Scheme& scheme,
                                    std::uint64_t seed);

/// gw = gyᵀ·x by `scheme`: gy [L×O], x [L×I] → [O×I].
[[nodiscard]] at::Tensor grad_weight(const at::Tensor& gy, const at::Tensor& x,
                                     const Scheme& scheme, std::uint64_t seed);

/// The operand x of grad_weight, as forward keeps it for backward in place of the float one (ABC,
/// methods.md section 3).
[[nodiscard]] Operand prepare_x(const at::Tensor& x, const Scheme& scheme);

/// The same for an x that is made in pieces, each of which stays in cache.
[[nodiscard]] Operand prepare_x(const RowSource& x, const Scheme& scheme);

/// How the operand gy of a path is made: contracted along its columns for grad_input and along its
/// rows for grad_weight, its levels where the GEMM reads them. Throws std::logic_error where a
/// scale varies along the contraction.
[[nodiscard]] Recipe gy_recipe(Path path, const Scheme& scheme, std::uint64_t seed);

/// How the operand x of grad_weight is made, and W of grad_input. Throws like gy_recipe().
[[nodiscard]] Recipe other_recipe(const Scheme& scheme);

/// All of an operand x of grad_weight but its values and scales: what remains to be known of one
/// that forward kept.
[[nodiscard]] Operand form_of_x(const Scheme& scheme);

/// The operand gy of one path.
[[nodiscard]] Operand prepare_gy(const at::Tensor& gy, Path path, const Scheme& scheme,
                                 std::uint64_t seed);

/// W of grad_input. Throws like gy_recipe().
[[nodiscard]] Operand prepare_w(const at::Tensor& w, const Scheme& scheme);

/// Rows [first, first + count) of an operand that is contracted along its columns.
[[nodiscard]] Operand rows_of(const Operand& operand, std::int64_t first, std::int64_t count);

/// grad_weight with x prepared before.
[[nodiscard]] at::Tensor grad_weight(const at::Tensor& gy, const Operand& x, const Scheme& scheme,
                                     std::uint64_t seed);

/// Exact integer product int8 [m×k] · int8 [k×n] → int32 [m×n], by the library route named in
/// integer_gemm_route(). `largest` is the largest magnitude that can occur in either operand (7 or
/// 127). Throws std::logic_error where k is so long that int32 might overflow (k > 133,144 at 127);
/// multiply() splits such products.
[[nodiscard]] at::Tensor integer_gemm(const at::Tensor& a, const at::Tensor& b, int largest);

/// Which library runs the integer products on this CPU and why, for reports; measured once a
/// process by a short probe, forced by HOT_INT_GEMM=brgemm|int_mm|float32. Throws UsageError for
/// another value.
[[nodiscard]] std::string integer_gemm_route();

}  // namespace hot::kernels
