#include "kernels/cuda/gemm.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>

#include "kernels/common/formats.hpp"
#include "kernels/cuda/cublaslt.hpp"
#include "kernels/device_truth.hpp"

namespace hot::kernels {

struct IntegerGemm::Handle {
  Handle() {
    lt.check(lt.create(&library), "start");
    int device = 0;
    if (cudaGetDevice(&device) == cudaSuccess) {
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    }
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] bool int4_is_native() const {
    return int4_gemm_is_built() && major == 8 && may_be_faster("int4", major, minor);
  }

  /// The product of bytes, by the kernel that was chosen when its shape was first seen.
  void multiply_bytes(void* stream, const std::int8_t* a, const std::int8_t* b, ProductShape shape,
                      std::int32_t* out, void* workspace) {
    shape.alignment = alignment_of(a, b);
    const Described described(lt, shape);
    const cublasLtMatmulAlgo_t algorithm = algorithms.of(library, described, shape);
    const std::int32_t one = 1;
    const std::int32_t zero = 0;
    lt.check(lt.matmul(library, described.product, &one, b, described.left, a, described.right,
                       &zero, out, described.result, out, described.result, &algorithm, workspace,
                       kLibraryBytes, static_cast<cudaStream_t>(stream)),
             "INT8 product");
  }

  const CublasLt& lt = CublasLt::get();
  cublasLtHandle_t library = nullptr;  // lives as long as the process, as its kernels do
  Algorithms algorithms;
  int major = 0, minor = 0;
};

IntegerGemm::IntegerGemm() : handle_(std::make_unique<Handle>()) {}
IntegerGemm::~IntegerGemm() = default;

std::size_t IntegerGemm::workspace_bytes(const LevelLayout& a, const LevelLayout& b) const {
  const bool unpacks = a.packed && !handle_->int4_is_native();
  return kLibraryBytes + (unpacks ? static_cast<std::size_t>(2 * (a.bytes() + b.bytes())) : 0);
}

void IntegerGemm::multiply(void* stream, const std::int8_t* a, const LevelLayout& a_layout,
                           const std::int8_t* b, const LevelLayout& b_layout, std::int32_t* out,
                           void* workspace) const {
  if (a_layout.terms != b_layout.terms || a_layout.packed != b_layout.packed)
    throw std::logic_error("the operands' contracted lengths or packings differ");
  if (a_layout.terms > exact_terms(a_layout.packed ? 7 : 127, 31))
    throw std::logic_error("int32 can't hold a product over so many terms");
  if (a_layout.free == 0 || b_layout.free == 0 || a_layout.terms == 0) return;
  const std::int64_t rows = a_layout.padded_free;
  const std::int64_t cols = b_layout.padded_free;
  ProductShape shape;
  shape.rows = rows;
  shape.cols = cols;
  shape.terms = a_layout.vector_bytes();
  shape.row_pitch = a_layout.pitch;
  shape.col_pitch = b_layout.pitch;
  if (!a_layout.packed) {
    handle_->multiply_bytes(stream, a, b, shape, out, workspace);
    return;
  }
  if (handle_->int4_is_native()) {
    int4_gemm(stream, a, a_layout.pitch, b, b_layout.pitch, rows, cols, 2 * shape.terms, out);
    return;
  }
  auto* wide_a = static_cast<std::int8_t*>(workspace) + kLibraryBytes;
  std::int8_t* wide_b = wide_a + 2 * a_layout.bytes();
  cuda_passes().unpack(stream, a, a_layout.bytes(), wide_a);
  cuda_passes().unpack(stream, b, b_layout.bytes(), wide_b);
  for (std::int64_t* levels : {&shape.terms, &shape.row_pitch, &shape.col_pitch}) *levels *= 2;
  handle_->multiply_bytes(stream, wide_a, wide_b, shape, out, workspace);
}

const char* IntegerGemm::int4_route() const {
  return handle_->int4_is_native() ? "INT4 tensor cores, CUTLASS"
                                   : "stored in 4 bits, unpacked, multiplied as INT8 by cuBLASLt";
}

}  // namespace hot::kernels
