#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

namespace hot::kernels {

/// The device that a test program of tensors was linked with, while alive: the simulator, in whose
/// memory new CPU tensors lie then, or a GPU.
class TensorDevice {
 public:
  TensorDevice();
  ~TensorDevice();
  TensorDevice(const TensorDevice&) = delete;
  TensorDevice& operator=(const TensorDevice&) = delete;

  /// A copy with the same strides, where the tensor is dense.
  [[nodiscard]] at::Tensor there(const at::Tensor& tensor) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::kernels
