// INT4 on the tensor cores that have it: sm_80, sm_86, sm_89 (CMake compiles this file for those
// alone).
#include <cutlass/gemm/device/gemm.h>

#include <stdexcept>
#include <string>

#include "kernels/cuda/gemm.hpp"

namespace hot::kernels {
namespace {

using cutlass::int4b_t;
/// Both operands with the contracted dimension contiguous, 32 levels (16 bytes) an access.
using Int4Gemm = cutlass::gemm::device::Gemm<
    int4b_t, cutlass::layout::RowMajor, int4b_t, cutlass::layout::ColumnMajor, std::int32_t,
    cutlass::layout::RowMajor, std::int32_t, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<128, 128, 128>, cutlass::gemm::GemmShape<64, 64, 128>,
    cutlass::gemm::GemmShape<16, 8, 64>,
    cutlass::epilogue::thread::LinearCombination<std::int32_t, 4, std::int32_t, std::int32_t>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, 32, 32, false,
    cutlass::arch::OpMultiplyAddSaturate>;

}  // namespace

bool int4_gemm_is_built() {
  return true;
}

void int4_gemm(void* stream, const std::int8_t* a, std::int64_t a_pitch, const std::int8_t* b,
               std::int64_t b_pitch, std::int64_t rows, std::int64_t cols, std::int64_t terms,
               std::int32_t* out) {
  const auto levels = [](const std::int8_t* p) { return reinterpret_cast<const int4b_t*>(p); };
  const cutlass::gemm::GemmCoord size(static_cast<int>(rows), static_cast<int>(cols),
                                      static_cast<int>(terms));
  const typename Int4Gemm::Arguments arguments(
      size, {levels(a), 2 * a_pitch}, {levels(b), 2 * b_pitch}, {out, cols}, {out, cols}, {1, 0});
  Int4Gemm gemm;
  const cutlass::Status status = gemm(arguments, nullptr, static_cast<cudaStream_t>(stream));
  if (status != cutlass::Status::kSuccess)
    throw std::runtime_error(std::string("CUTLASS, INT4 product: ") +
                             cutlass::cutlassGetStatusString(status));
}

}  // namespace hot::kernels
