#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace hot::kernels {

/// What this program calls of cuBLASLt, found in the copy that LibTorch brings or the toolkit's.
struct CublasLt {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtGetStatusString) status_string;
  decltype(&cublasLtMatmul) matmul;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;

  /// Throws std::runtime_error where the library isn't there.
  [[nodiscard]] static const CublasLt& get();

  void check(cublasStatus_t status, const char* what) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw std::runtime_error(std::string("cuBLASLt, ") + what + ": " + status_string(status));
  }
};

/// One product of two matrices whose contracted dimension is contiguous in both: left [cols ×
/// terms] and right [rows × terms] as rows in memory give out [rows × cols], row-major. It is the
/// one layout that every INT8 and FP8 tensor core takes.
struct ProductShape {
  cudaDataType left = CUDA_R_8I;  ///< of the factors
  cudaDataType right = CUDA_R_8I;
  cudaDataType out = CUDA_R_32I;  ///< of the result
  cublasComputeType_t compute = CUBLAS_COMPUTE_32I;
  std::int64_t rows = 0, cols = 0, terms = 0;
  std::int64_t row_pitch = 0, col_pitch = 0;  ///< elements from vector to vector of the factors
  /// Bytes of which every factor's address is a multiple, 16 to 256: what kernels may rely on.
  std::uint32_t alignment = 256;
  bool operator<(const ProductShape& other) const;
};

/// What cuBLASLt wants described before it multiplies; freed at the end.
class Described {
 public:
  Described(const CublasLt& library, const ProductShape& shape);
  ~Described();
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;

  /// One float32 scale in device memory for each factor (FP8).
  void scale_by(const float* of_left, const float* of_right);

  const CublasLt& library;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t left = nullptr, right = nullptr, result = nullptr;

 private:
  void release();
};

/// The alignment of a ProductShape for factors at these addresses. Throws std::logic_error below 16
/// bytes, which no kernel takes.
[[nodiscard]] std::uint32_t alignment_of(const void* left, const void* right);

/// The library's workspace.
constexpr std::size_t kLibraryBytes = 32 << 20;

/// The kernel that the library's heuristic chooses. Throws std::runtime_error where it has none.
[[nodiscard]] cublasLtMatmulAlgo_t best_algorithm(cublasLtHandle_t handle, const Described& d,
                                                  std::uint32_t alignment);

/// The kernels of products that were seen before.
class Algorithms {
 public:
  [[nodiscard]] cublasLtMatmulAlgo_t of(cublasLtHandle_t handle, const Described& described,
                                        const ProductShape& shape);

 private:
  std::mutex choosing_;
  std::map<ProductShape, cublasLtMatmulAlgo_t> chosen_;
};

}  // namespace hot::kernels
