#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/cuda/passes.hpp"

namespace hot::kernels {

/// Integer products of two operands in the layout of transform_quantize, on a GPU: exact int32 sums
/// [a.padded_free × b.padded_free], row-major. int8 by cuBLASLt; int4 by CUTLASS where tensor cores
/// have it (sm_80 to sm_89), elsewhere unpacked to int8 first.
class IntegerGemm {
 public:
  /// For the current device. Throws std::runtime_error where cuBLASLt doesn't start.
  IntegerGemm();
  ~IntegerGemm();
  IntegerGemm(const IntegerGemm&) = delete;
  IntegerGemm& operator=(const IntegerGemm&) = delete;

  /// Bytes that multiply() needs at `workspace` for these operands.
  [[nodiscard]] std::size_t workspace_bytes(const LevelLayout& a, const LevelLayout& b) const;

  /// Puts the product onto `stream` and doesn't wait. Both operands are packed or neither is.
  /// Throws std::logic_error for operands that don't fit or whose sums int32 can't hold,
  /// std::runtime_error with the library's status.
  void multiply(void* stream, const std::int8_t* a, const LevelLayout& a_layout,
                const std::int8_t* b, const LevelLayout& b_layout, std::int32_t* out,
                void* workspace) const;

  /// Which instruction multiplies packed operands on this device, as a phrase for reports.
  [[nodiscard]] const char* int4_route() const;

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

/// CUTLASS's INT4 product for sm_80 to sm_89: packed levels, pitches in bytes. Returns false where
/// this program was built without it.
[[nodiscard]] bool int4_gemm_is_built();
void int4_gemm(void* stream, const std::int8_t* a, std::int64_t a_pitch, const std::int8_t* b,
               std::int64_t b_pitch, std::int64_t rows, std::int64_t cols, std::int64_t terms,
               std::int32_t* out);

}  // namespace hot::kernels
