#pragma once

#include <cstdint>
#include <vector>

#include "core/scheme.hpp"

namespace hot::measure {

struct Options {
  /// Tried on each path where they are legal; empty = default_portfolio().
  std::vector<Scheme> schemes{};
  /// Stochastic rounding is run with seed … seed+seeds-1.
  int seeds = 2;
  std::uint64_t seed = 0;
  std::int64_t samples = 0;  ///< of a minibatch; measure() finds it
  /// GEMM work of one scheme as a fraction of the exact product's; 1 = whole gradients.
  double work = 0.005;
  /// Gradients up to this size are always compared whole, and a quarter of it at least of others.
  std::int64_t min_entries = 2048;
  /// Of larger ones no more than this (unless work is 1): the interval depends on how many entries
  /// are compared, not on their share.
  std::int64_t max_entries = 4096;
};

/// The schemes of the default analysis, those that are worth their time in most models: none|had16
/// × int8|int4 × tensor|row|column × nearest|stochastic and low16r{4,8,12} × {no format, int8,
/// int4}.
[[nodiscard]] std::vector<Scheme> default_portfolio();

/// What patterns are matched against, and `all`: the default and the rest of the grammar, every
/// transform, basis, span, format and extraction in it.
[[nodiscard]] std::vector<Scheme> whole_portfolio();

}  // namespace hot::measure
