#pragma once

#include <cstdint>
#include <vector>

#include "core/scheme.hpp"

namespace hot::measure {

struct Options {
  std::vector<Scheme>
      schemes;    ///< tried on each path where they are legal; empty = default_portfolio()
  int seeds = 4;  ///< stochastic rounding is run with seed … seed+seeds-1
  std::uint64_t seed = 0;
  double work =
      0.02;  ///< GEMM work of one scheme as a fraction of the exact product's; 1 = whole gradients
  std::int64_t min_entries = 4096;  ///< gradients up to this size are always compared whole
};

/// The schemes of the default analysis: none|had8|had16|had32 × int8|int4 × tensor|row|column ×
/// nearest|stochastic and low16r{4,8,10,12} × sequency|lp_l1 × {no format, int8, int4}.
[[nodiscard]] std::vector<Scheme> default_portfolio();

}  // namespace hot::measure
