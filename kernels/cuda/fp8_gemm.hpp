#pragma once

#include <cstdint>
#include <memory>

#include "kernels/cuda/cublaslt.hpp"

namespace hot::kernels {

/// Products of FP8 (e4m3) operands with the contracted dimension contiguous in both, on tensor
/// cores that have them (sm_89 and newer), by cuBLASLt: float32 sums, times one scale for each
/// operand.
class Fp8Gemm {
 public:
  /// For the current device. Throws std::runtime_error where cuBLASLt doesn't start or the device
  /// has no FP8 instructions.
  Fp8Gemm();
  ~Fp8Gemm();
  Fp8Gemm(const Fp8Gemm&) = delete;
  Fp8Gemm& operator=(const Fp8Gemm&) = delete;

  /// Puts out [rows × cols] = a [rows × terms] · bᵀ [cols × terms] · a_scale · b_scale onto
  /// `stream` and doesn't wait. Scales are float32 in device memory; `workspace` has kLibraryBytes.
  /// Sizes as fp8_shape() takes them.
  void multiply(void* stream, const void* a, const float* a_scale, const void* b,
                const float* b_scale, const ProductShape& shape, float* out, void* workspace) const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// The description of such a product. Throws std::logic_error for sizes that the tensor cores don't
/// take: terms, pitches and cols are multiples of 16.
[[nodiscard]] ProductShape fp8_shape(std::int64_t rows, std::int64_t cols, std::int64_t terms);

/// Whether a GPU multiplies FP8: compute capability 8.9 and newer.
[[nodiscard]] bool has_fp8(int major, int minor);

}  // namespace hot::kernels
