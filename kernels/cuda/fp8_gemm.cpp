#include "kernels/cuda/fp8_gemm.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>

#include "kernels/device_truth.hpp"

namespace hot::kernels {

ProductShape fp8_shape(std::int64_t rows, std::int64_t cols, std::int64_t terms) {
  if (terms % 16 != 0 || cols % 16 != 0)
    throw std::logic_error("FP8 tensor cores take multiples of 16 terms and columns");
  ProductShape shape;
  shape.type = CUDA_R_8F_E4M3;
  shape.out = CUDA_R_32F;
  shape.compute = CUBLAS_COMPUTE_32F;
  shape.rows = rows;
  shape.cols = cols;
  shape.terms = shape.row_pitch = shape.col_pitch = terms;
  return shape;
}

bool has_fp8(int major, int minor) {
  return may_be_faster("fp8", major, minor);
}

struct Fp8Gemm::Handle {
  Handle() {
    int device = 0;
    int major = 0;
    int minor = 0;
    if (cudaGetDevice(&device) == cudaSuccess) {
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    }
    if (!has_fp8(major, minor))
      throw std::runtime_error("this GPU has no FP8 instructions: compute capability 8.9 has");
    lt.check(lt.create(&library), "start");
  }

  const CublasLt& lt = CublasLt::get();
  cublasLtHandle_t library = nullptr;  // lives as long as the process, as its kernels do
};

Fp8Gemm::Fp8Gemm() : handle_(std::make_unique<Handle>()) {}
Fp8Gemm::~Fp8Gemm() = default;

void Fp8Gemm::multiply(void* stream, const void* a, const float* a_scale, const void* b,
                       const float* b_scale, const ProductShape& shape, float* out,
                       void* workspace) const {
  if (shape.rows == 0 || shape.cols == 0) return;
  const CublasLt& lt = handle_->lt;
  Described described(lt, shape);
  described.scale_by(b_scale, a_scale);  // to the library the factors stand the other way round
  const cublasLtMatmulAlgo_t algorithm = best_algorithm(handle_->library, described);
  const float one = 1;
  const float zero = 0;
  lt.check(lt.matmul(handle_->library, described.product, &one, b, described.left, a,
                     described.right, &zero, out, described.result, out, described.result,
                     &algorithm, workspace, kLibraryBytes, static_cast<cudaStream_t>(stream)),
           "FP8 product");
}

}  // namespace hot::kernels
