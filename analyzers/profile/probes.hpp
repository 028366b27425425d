#pragma once

#include <c10/core/Device.h>

namespace hot::profile {

/// What this machine reaches on work that is nothing else: ceilings of the roofline.
struct Ceilings {
  double float32_flops = 0;     ///< per second, float32 matrix products
  double bytes_per_second = 0;  ///< read and written by a copy too large for any cache
};

/// Measures both on a device, the best of several runs each; takes about a second on a CPU.
[[nodiscard]] Ceilings measure_ceilings(c10::Device device);

}  // namespace hot::profile
