#include <ATen/ATen.h>

#include "tests/device/sim_backend.hpp"
#include "tests/device/tensor_device.hpp"

namespace hot::kernels {

struct TensorDevice::State {
  SimBackend backend;
};

TensorDevice::TensorDevice() : state_(std::make_unique<State>()) {}
TensorDevice::~TensorDevice() = default;

at::Tensor TensorDevice::there(const at::Tensor& tensor) const {
  return tensor.clone();
}

}  // namespace hot::kernels
