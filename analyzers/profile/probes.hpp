#pragma once

namespace hot::profile {

/// What this machine reaches on work that is nothing else: ceilings of the roofline.
struct Ceilings {
  double float32_flops = 0;     ///< per second, float32 matrix products
  double bytes_per_second = 0;  ///< read and written by a copy too large for any cache
};

/// Measures both, the best of several runs each; takes about a second.
[[nodiscard]] Ceilings measure_ceilings();

}  // namespace hot::profile
