#include "kernels/cuda/gemm.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "kernels/common/formats.hpp"
#include "kernels/device_truth.hpp"

namespace hot::kernels {
namespace {

constexpr std::size_t kLibraryBytes = 32 << 20;

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLASLt, ") + what + ": " +
                             cublasLtGetStatusString(status));
}

/// A column-major matrix of `rows` × `cols`.
class Layout {
 public:
  Layout(cudaDataType type, std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
    check(cublasLtMatrixLayoutCreate(&layout_, type, static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(cols), pitch),
          "layout");
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  [[nodiscard]] cublasLtMatrixLayout_t get() const { return layout_; }

 private:
  cublasLtMatrixLayout_t layout_ = nullptr;
};

class Description {
 public:
  Description() {
    check(cublasLtMatmulDescCreate(&description_, CUBLAS_COMPUTE_32I, CUDA_R_32I), "description");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check(cublasLtMatmulDescSetAttribute(description_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                         sizeof(transposed)),
          "transposition");
  }
  ~Description() { cublasLtMatmulDescDestroy(description_); }
  Description(const Description&) = delete;
  Description& operator=(const Description&) = delete;
  [[nodiscard]] cublasLtMatmulDesc_t get() const { return description_; }

 private:
  cublasLtMatmulDesc_t description_ = nullptr;
};

class Preference {
 public:
  Preference() {
    check(cublasLtMatmulPreferenceCreate(&preference_), "preference");
    check(
        cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &kLibraryBytes, sizeof(kLibraryBytes)),
        "workspace");
  }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference_); }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;
  [[nodiscard]] cublasLtMatmulPreference_t get() const { return preference_; }

 private:
  cublasLtMatmulPreference_t preference_ = nullptr;
};

/// out (row-major [rows × cols]) is, column-major, [cols × rows] = bᵀ · a of matrices with the
/// contracted dimension first: the one layout that every INT8 tensor core takes.
void int8_gemm(cublasLtHandle_t handle, void* stream, const std::int8_t* a, std::int64_t rows,
               const std::int8_t* b, std::int64_t cols, std::int64_t terms, std::int32_t* out,
               void* workspace) {
  const Description description;
  const Layout left(CUDA_R_8I, terms, cols, terms);
  const Layout right(CUDA_R_8I, terms, rows, terms);
  const Layout result(CUDA_R_32I, cols, rows, cols);
  const Preference preference;
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  check(cublasLtMatmulAlgoGetHeuristic(handle, description.get(), left.get(), right.get(),
                                       result.get(), result.get(), preference.get(), 1, &found,
                                       &count),
        "choice of an INT8 kernel");
  if (count == 0) throw std::runtime_error("cuBLASLt has no INT8 kernel for this product");
  const std::int32_t one = 1;
  const std::int32_t zero = 0;
  check(cublasLtMatmul(handle, description.get(), &one, b, left.get(), a, right.get(), &zero, out,
                       result.get(), out, result.get(), &found.algo, workspace, kLibraryBytes,
                       static_cast<cudaStream_t>(stream)),
        "INT8 product");
}

}  // namespace

struct IntegerGemm::Handle {
  Handle() {
    check(cublasLtCreate(&library), "start");
    int device = 0;
    if (cudaGetDevice(&device) == cudaSuccess) {
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    }
  }
  ~Handle() { cublasLtDestroy(library); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] bool int4_is_native() const {
    return int4_gemm_is_built() && major == 8 && may_be_faster("int4", major, minor);
  }

  cublasLtHandle_t library = nullptr;
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
  if (!a_layout.packed) {
    int8_gemm(handle_->library, stream, a, rows, b, cols, a_layout.pitch, out, workspace);
    return;
  }
  if (handle_->int4_is_native()) {
    int4_gemm(stream, a, a_layout.pitch, b, b_layout.pitch, rows, cols, 2 * a_layout.pitch, out);
    return;
  }
  auto* wide_a = static_cast<std::int8_t*>(workspace) + kLibraryBytes;
  std::int8_t* wide_b = wide_a + 2 * a_layout.bytes();
  cuda_passes().unpack(stream, a, a_layout.bytes(), wide_a);
  cuda_passes().unpack(stream, b, b_layout.bytes(), wide_b);
  int8_gemm(handle_->library, stream, wide_a, rows, wide_b, cols, 2 * a_layout.pitch, out,
            workspace);
}

const char* IntegerGemm::int4_route() const {
  return handle_->int4_is_native() ? "INT4 tensor cores, CUTLASS"
                                   : "stored in 4 bits, unpacked, multiplied as INT8 by cuBLASLt";
}

}  // namespace hot::kernels
