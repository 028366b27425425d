// Tensors on CUDA devices: torch's current stream, this program's passes and products. Nothing of
// libtorch_cuda is linked, which a run on the CPU doesn't load.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "kernels/cuda/fp8_gemm.hpp"
#include "kernels/cuda/gemm.hpp"
#include "kernels/device_backend.hpp"
#include "kernels/fp8_formats.hpp"

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

  [[nodiscard]] bool multiplies_fp8(at::Device device, Format a, Format b) const override {
    return fp8_pair(a, b) && has_fp8(attribute(device, cudaDevAttrComputeCapabilityMajor),
                                     attribute(device, cudaDevAttrComputeCapabilityMinor));
  }

  void multiply_fp8(at::Device device, void* stream, const Fp8Factor& a, const Fp8Factor& b,
                    float factor, float* out, void* workspace) const override {
    found(fp8_by_device_, device).multiply(stream, a, b, factor, out, workspace);
  }

  [[nodiscard]] std::string products(at::Device device) const override {
    const bool fp8 = multiplies_fp8(device, Format::fp8e4m3, Format::fp8e4m3);
    return std::string("int8: tensor cores, cuBLASLt; int4: ") + gemm(device).int4_route() +
           "; fp8: " + (fp8 ? "tensor cores, cuBLASLt" : "simulated in float32");
  }

 private:
  template <class Gemm>
  using ByDevice = std::map<c10::DeviceIndex, std::unique_ptr<Gemm>>;

  /// 0 where CUDA doesn't say.
  static int attribute(at::Device device, cudaDeviceAttr which) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, device.index()) == cudaSuccess ? value : 0;
  }

  template <class Gemm>
  [[nodiscard]] const Gemm& found(ByDevice<Gemm>& all, at::Device device) const {
    (void)enter(device);
    const std::scoped_lock lock(mutex_);
    auto& one = all[device.index()];
    if (!one) one = std::make_unique<Gemm>();
    return *one;
  }

  [[nodiscard]] const IntegerGemm& gemm(at::Device device) const {
    return found(by_device_, device);
  }

  mutable std::mutex mutex_;
  mutable ByDevice<IntegerGemm> by_device_;
  mutable ByDevice<Fp8Gemm> fp8_by_device_;
};

}  // namespace

const DeviceBackend* cuda_backend() {
  static const auto* backend = new CudaBackend;  // outlives every tensor
  return backend;
}

}  // namespace hot::kernels
