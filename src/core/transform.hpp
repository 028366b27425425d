#pragma once

#include <compare>
#include <cstdint>

namespace hot {

/// Order in which the rows of H_n are kept by a low-rank projection (methods.md, section 2).
/// energy: the rows that keep most of the product's energy on calibration data, fixed for each
/// layer.
enum class Basis { sequency, lp_l1, energy };

/// What the blocks of a transform along the rows (tokens, pixels) span. flat: rows that follow each
/// other, across samples. sample: blocks start anew and are padded in each sample. divisor: blocks
/// of the largest power of two that divides the rows of one sample, as published training code has
/// it; n and r of the text give their ratio alone.
enum class Span { flat, sample, divisor };

/// Rows of one sample as an image: `prefix` rows of no place first (class tokens), then height ×
/// width.
struct Grid {
  int prefix = 0;
  int height = 0;  ///< 0: not known yet
  int width = 0;

  friend bool operator==(const Grid&, const Grid&) = default;
  friend auto operator<=>(const Grid&, const Grid&) = default;
};

/// What both operands undergo along the contracted dimension, in consecutive zero-padded blocks of
/// `order`. patch: both gradients' rows (tokens, pixels) are projected instead, in two-dimensional
/// patches of order × order, and grad_input is projected back.
struct Transform {
  enum class Kind { none, hadamard, lowrank, rht, patch };
  Kind kind = Kind::none;
  int order = 1;  ///< n, a power of two; 1 when kind is none
  int rank = 1;   ///< rows of H_n kept (patch: of order² functions); else equals order
  Basis basis = Basis::sequency;
  std::uint64_t kept = 0;  ///< energy: bit s is sequency s; 0: not chosen yet
  Span span = Span::flat;
  int sample_rows = 0;  ///< sample, divisor: rows of one sample; 0: not known yet
  Grid grid{};          ///< patch

  friend bool operator==(const Transform&, const Transform&) = default;
  friend auto operator<=>(const Transform&, const Transform&) = default;
};

/// False while something of the layer is missing that analysis fills in: the rows that `energy`
/// keeps, the rows of a sample, the grid.
[[nodiscard]] bool is_resolved(const Transform& transform);

/// The same transform as the text of a plan for any layer has it: nothing of a layer filled in.
[[nodiscard]] Transform without_layer(const Transform& transform);

/// Largest power of two that divides `rows`.
[[nodiscard]] int largest_divisor(int rows);

/// The none, hadamard or lowrank transform of flat blocks that remains once signs are applied, and
/// samples padded: what the kernels run. Throws std::logic_error for a patch, and where the
/// transform isn't resolved.
[[nodiscard]] Transform flat_transform(const Transform& transform);

/// Factor of a product whose operands were both transformed: 1/n with the ±1 matrix.
[[nodiscard]] double product_factor(const Transform& transform);

/// True where divisor collapses to blocks of one row: the transform does nothing.
[[nodiscard]] bool has_no_effect(const Transform& transform);

}  // namespace hot
