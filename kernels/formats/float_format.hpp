#pragma once

#include <cstdint>

#include "core/scheme.hpp"

namespace hot::kernels {

/// The numbers of a format on both sides of a magnitude: low ≤ t ≤ high, the same where t is one.
struct Neighbours {
  float low = 0;
  float high = 0;
  bool tie_low = true;  ///< where a tie goes to low: half to even
};

/// A number format that is no integer: an element is number · scale, and only rounding to it is
/// simulated. Products are those of the rounded numbers in float32. One file in this folder defines
/// one format; float_formats() lists them.
struct FloatFormat {
  Format value = Format::none;

  /// Scale of a group (tensor, row, column, block<k>) by its largest magnitude; 1 for zeros. For a
  /// format with blocks of its own, the part of the scale that all blocks share.
  float (*group_scale)(float largest);

  /// Scale of one of the format's own blocks, the shared part in it; nullptr for a format without.
  float (*block_scale)(float largest, float shared);

  /// Around t = |v| / scale ≥ 0; a t above the largest number is cut to it.
  Neighbours (*around)(float t);
};

/// All of them, one row each (kernels/formats/float_formats.cpp).
[[nodiscard]] const FloatFormat* find_float_format(Format format);

/// The rows' definitions, each in a file of its name.
[[nodiscard]] FloatFormat fp8e4m3();
[[nodiscard]] FloatFormat fp8e5m2();
[[nodiscard]] FloatFormat mxfp8();
[[nodiscard]] FloatFormat mxfp4();
[[nodiscard]] FloatFormat nvfp4();
[[nodiscard]] FloatFormat luq4();

/// t rounded to the nearer neighbour.
[[nodiscard]] constexpr float nearest(const Neighbours& n, float t) {
  const float up = n.high - t;
  const float down = t - n.low;
  if (up == down) return n.tie_low ? n.low : n.high;
  return up < down ? n.high : n.low;
}

/// t rounded up with probability (t − low) / (high − low), to within 2⁻¹⁷, by `uniform` in (0, 1).
[[nodiscard]] constexpr float stochastic(const Neighbours& n, float t, float uniform) {
  return uniform * (n.high - n.low) < t - n.low ? n.high : n.low;
}

/// Variance of stochastic rounding of t.
[[nodiscard]] constexpr float variance(const Neighbours& n, float t) {
  return (n.high - t) * (t - n.low);
}

}  // namespace hot::kernels
