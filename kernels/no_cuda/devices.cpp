#include "kernels/devices.hpp"

namespace hot::kernels {

CudaDevices cuda_devices() {
  return {{}, "", "this program was built without CUDA"};
}

std::string cuda_toolkit() {
  return "none";
}

}  // namespace hot::kernels
