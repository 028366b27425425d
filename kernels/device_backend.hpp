#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/passes.hpp"
#include "kernels/fp8_formats.hpp"

namespace hot::kernels {

/// What works on tensors of one kind of device: the passes, and products of their levels. All of
/// it is put onto the stream that is current for the tensor's device and not waited for; memory
/// comes from the device's own allocator, by at::empty.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  DeviceBackend() = default;
  DeviceBackend(const DeviceBackend&) = delete;
  DeviceBackend& operator=(const DeviceBackend&) = delete;

  [[nodiscard]] virtual const DevicePasses& passes() const = 0;

  /// Makes `device` the one that this thread launches on, and gives its current stream.
  [[nodiscard]] virtual void* enter(at::Device device) const = 0;

  /// Bytes that multiply() needs at `workspace`.
  [[nodiscard]] virtual std::size_t workspace_bytes(at::Device device, const LevelLayout& a,
                                                    const LevelLayout& b) const = 0;

  /// Exact int32 sums [a.padded_free × b.padded_free], row-major, of levels that are both packed or
  /// both not. Throws std::runtime_error with the library's words.
  virtual void multiply(at::Device device, void* stream, const std::int8_t* a,
                        const LevelLayout& a_layout, const std::int8_t* b,
                        const LevelLayout& b_layout, std::int32_t* out, void* workspace) const = 0;

  /// Whether the tensor cores of that device multiply FP8 numbers of these formats.
  [[nodiscard]] virtual bool multiplies_fp8(at::Device device, Format a, Format b) const;

  /// factor · scale of a · scale of b · sums [a.padded_free × b.padded_free] of FP8 numbers,
  /// float32 and row-major. A scale is one float32 on the device, or null: 1. Throws
  /// std::logic_error where multiplies_fp8() is false, std::runtime_error with the library's words.
  virtual void multiply_fp8(at::Device device, void* stream, const Fp8Factor& a, const Fp8Factor& b,
                            float factor, float* out, void* workspace) const;

  /// Which libraries multiply levels on that device, as a phrase for reports.
  [[nodiscard]] virtual std::string products(at::Device device) const = 0;
};

/// The backend of CUDA tensors, or nullptr where this program was built without it.
[[nodiscard]] const DeviceBackend* cuda_backend();

/// The backend that works on tensors of `device`: nullptr for the CPU's own loops. Throws
/// EnvironmentError for a kind of device that this program has no kernels for.
[[nodiscard]] const DeviceBackend* backend_of(at::Device device);

/// While alive, CPU tensors are worked on by `backend`, as if they lay on a GPU: how the simulator
/// stands in for one in tests.
class StandIn {
 public:
  explicit StandIn(const DeviceBackend& backend);
  ~StandIn();
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
};

}  // namespace hot::kernels
