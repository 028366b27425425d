#include "kernels/cuda/passes_impl.hpp"

namespace hot::kernels {

const DevicePasses& sim_passes() {
  static constexpr DevicePasses passes = sim::passes_called("sim");
  return passes;
}

}  // namespace hot::kernels
