#include "kernels/cuda/passes_impl.hpp"

namespace hot::kernels {

const DevicePasses& cuda_passes() {
  static constexpr DevicePasses passes = cuda::passes_called("cuda");
  return passes;
}

}  // namespace hot::kernels
