#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/cublaslt.hpp"
#include "kernels/fp8_formats.hpp"

namespace hot::kernels {

/// Products of FP8 operands with the contracted dimension contiguous in both, on tensor cores that
/// have them (sm_89 and newer), by cuBLASLt: float32 sums, times one scale for each operand.
class Fp8Gemm {
 public:
  /// For the current device. Throws std::runtime_error where cuBLASLt doesn't start or the device
  /// has no FP8 instructions.
  Fp8Gemm();
  ~Fp8Gemm();
  Fp8Gemm(const Fp8Gemm&) = delete;
  Fp8Gemm& operator=(const Fp8Gemm&) = delete;

  /// DeviceBackend::multiply_fp8() onto `stream`; doesn't wait. `workspace` has kLibraryBytes.
  void multiply(void* stream, const Fp8Factor& a, const Fp8Factor& b, float factor, float* out,
                void* workspace) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// The description of such a product. Throws std::logic_error for packed operands, for lengths that
/// differ, and for two of e5m2.
[[nodiscard]] ProductShape fp8_shape(const Fp8Factor& a, const Fp8Factor& b);

/// Whether a GPU multiplies FP8: compute capability 8.9 and newer.
[[nodiscard]] bool has_fp8(int major, int minor);

}  // namespace hot::kernels
