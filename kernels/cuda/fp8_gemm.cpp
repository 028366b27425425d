#include "kernels/cuda/fp8_gemm.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>

#include "kernels/device_truth.hpp"
#include "kernels/fp8_formats.hpp"

namespace hot::kernels {
namespace {

cudaDataType type_of(Format format) {
  return format == Format::fp8e4m3 ? CUDA_R_8F_E4M3 : CUDA_R_8F_E5M2;
}

}  // namespace

ProductShape fp8_shape(const Fp8Factor& a, const Fp8Factor& b) {
  if (!fp8_pair(a.format, b.format))
    throw std::logic_error("FP8 tensor cores multiply e4m3 with e4m3 or e5m2");
  if (a.layout.terms != b.layout.terms || a.layout.packed || b.layout.packed)
    throw std::logic_error("FP8 factors have one length, and a byte a number");
  ProductShape shape;
  shape.left = type_of(b.format);  // to the library the factors stand the other way round
  shape.right = type_of(a.format);
  shape.out = CUDA_R_32F;
  shape.compute = CUBLAS_COMPUTE_32F;
  shape.rows = a.layout.padded_free;  // multiples of 16, as the pitches are
  shape.cols = b.layout.padded_free;
  shape.terms = a.layout.vector_bytes();
  shape.row_pitch = a.layout.pitch;
  shape.col_pitch = b.layout.pitch;
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
  Algorithms algorithms;
};

Fp8Gemm::Fp8Gemm() : handle_(std::make_unique<Handle>()) {}
Fp8Gemm::~Fp8Gemm() = default;

void Fp8Gemm::multiply(void* stream, const Fp8Factor& a, const Fp8Factor& b, float factor,
                       float* out, void* workspace) const {
  ProductShape shape = fp8_shape(a, b);
  if (shape.rows == 0 || shape.cols == 0 || shape.terms == 0) return;
  shape.alignment = alignment_of(a.numbers, b.numbers);
  const CublasLt& lt = handle_->lt;
  Described described(lt, shape);
  if (a.scale != nullptr && b.scale != nullptr) described.scale_by(b.scale, a.scale);
  const cublasLtMatmulAlgo_t algorithm = handle_->algorithms.of(handle_->library, described, shape);
  const float zero = 0;
  lt.check(
      lt.matmul(handle_->library, described.product, &factor, b.numbers, described.left, a.numbers,
                described.right, &zero, out, described.result, out, described.result, &algorithm,
                workspace, kLibraryBytes, static_cast<cudaStream_t>(stream)),
      "FP8 product");
}

}  // namespace hot::kernels
