#include <stdexcept>

#include "kernels/cuda/gemm.hpp"

// Stands in for int4_gemm.cu where CUTLASS's headers are missing, or no chosen architecture has
// INT4 tensor cores.

namespace hot::kernels {

bool int4_gemm_is_built() {
  return false;
}

void int4_gemm(void* /*stream*/, const std::int8_t* /*a*/, std::int64_t /*a_pitch*/,
               const std::int8_t* /*b*/, std::int64_t /*b_pitch*/, std::int64_t /*rows*/,
               std::int64_t /*cols*/, std::int64_t /*terms*/, std::int32_t* /*out*/) {
  throw std::logic_error("this program was built without CUTLASS's INT4 product");
}

}  // namespace hot::kernels
