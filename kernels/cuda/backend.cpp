// Tensors on CUDA devices: torch's current stream, this program's passes and products. Nothing of
// libtorch_cuda is linked, which a run on the CPU doesn't load.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "kernels/cuda/gemm.hpp"
#include "kernels/device_backend.hpp"

namespace hot::kernels {
namespace {

/// Torch's current stream of a device, by the C function that libtorch_cuda has for it.
void* current_stream(c10::DeviceIndex device) {
  using Get = std::int32_t(std::int32_t, void**);
  static Get* const get = [] {
    void* library = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    void* found =
        library == nullptr ? nullptr : dlsym(library, "aoti_torch_get_current_cuda_stream");
    return reinterpret_cast<Get*>(found);
  }();
  void* stream = nullptr;
  if (get == nullptr || get(device, &stream) != 0)
    throw std::runtime_error("this LibTorch doesn't tell its current CUDA stream");
  return stream;
}

class CudaBackend : public DeviceBackend {
 public:
  [[nodiscard]] const DevicePasses& passes() const override { return cuda_passes(); }

  [[nodiscard]] void* enter(at::Device device) const override {
    // This program's own copy of the runtime has its own idea of the current device.
    if (const cudaError_t error = cudaSetDevice(device.index()); error != cudaSuccess)
      throw std::runtime_error(std::string("device ") + device.str() + ": " +
                               cudaGetErrorString(error));
    return current_stream(device.index());
  }

  [[nodiscard]] std::size_t workspace_bytes(at::Device device, const LevelLayout& a,
                                            const LevelLayout& b) const override {
    return gemm(device).workspace_bytes(a, b);
  }

  void multiply(at::Device device, void* stream, const std::int8_t* a, const LevelLayout& a_layout,
                const std::int8_t* b, const LevelLayout& b_layout, std::int32_t* out,
                void* workspace) const override {
    gemm(device).multiply(stream, a, a_layout, b, b_layout, out, workspace);
  }

  [[nodiscard]] std::string products(at::Device device) const override {
    return std::string("int8: tensor cores, cuBLASLt; int4: ") + gemm(device).int4_route();
  }

 private:
  [[nodiscard]] const IntegerGemm& gemm(at::Device device) const {
    (void)enter(device);
    const std::scoped_lock lock(mutex_);
    auto& found = by_device_[device.index()];
    if (!found) found = std::make_unique<IntegerGemm>();
    return *found;
  }

  mutable std::mutex mutex_;
  mutable std::map<c10::DeviceIndex, std::unique_ptr<IntegerGemm>> by_device_;
};

}  // namespace

const DeviceBackend* cuda_backend() {
  static const auto* backend = new CudaBackend;  // outlives every tensor
  return backend;
}

}  // namespace hot::kernels
