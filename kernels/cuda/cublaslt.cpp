#include "kernels/cuda/cublaslt.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "kernels/cuda/library.hpp"

namespace hot::kernels {
namespace {

CublasLt load() {
  const Library library("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR));
  const auto find = [&]<class F>(F*& to, const char* name) { to = library.function(name, to); };
  CublasLt lt{};
  find(lt.create, "cublasLtCreate");
  find(lt.status_string, "cublasLtGetStatusString");
  find(lt.matmul, "cublasLtMatmul");
  find(lt.heuristic, "cublasLtMatmulAlgoGetHeuristic");
  find(lt.desc_create, "cublasLtMatmulDescCreate");
  find(lt.desc_destroy, "cublasLtMatmulDescDestroy");
  find(lt.desc_set, "cublasLtMatmulDescSetAttribute");
  find(lt.layout_create, "cublasLtMatrixLayoutCreate");
  find(lt.layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(lt.preference_create, "cublasLtMatmulPreferenceCreate");
  find(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute");
  return lt;
}

}  // namespace

const CublasLt& CublasLt::get() {
  static const CublasLt lt = load();
  return lt;
}

bool ProductShape::operator<(const ProductShape& o) const {
  return std::tie(left, right, out, rows, cols, terms, row_pitch, col_pitch, alignment) <
         std::tie(o.left, o.right, o.out, o.rows, o.cols, o.terms, o.row_pitch, o.col_pitch,
                  o.alignment);
}

std::uint32_t alignment_of(const void* left, const void* right) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(left) | reinterpret_cast<std::uintptr_t>(right);
  const std::uint32_t alignment = std::min(256U, 1U << std::min(8, std::countr_zero(bits)));
  if (alignment < 16) throw std::logic_error("a factor doesn't lie at a multiple of 16 bytes");
  return alignment;
}

Described::Described(const CublasLt& lt, const ProductShape& s) : library(lt) {
  const auto layout = [&](cublasLtMatrixLayout_t& to, cudaDataType type, std::int64_t rows,
                          std::int64_t cols, std::int64_t pitch) {
    lt.check(lt.layout_create(&to, type, static_cast<std::uint64_t>(rows),
                              static_cast<std::uint64_t>(cols), pitch),
             "layout");
  };
  try {
    // To the library matrices are column-major: out is [cols × rows] = leftᵀ · right.
    lt.check(lt.desc_create(&product, s.compute,
                            s.compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I : CUDA_R_32F),
             "description");
    const cublasOperation_t transposed = CUBLAS_OP_T;
    lt.check(lt.desc_set(product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)),
             "transposition");
    layout(left, s.left, s.terms, s.cols, s.col_pitch);
    layout(right, s.right, s.terms, s.rows, s.row_pitch);
    layout(result, s.out, s.cols, s.rows, s.cols);
  } catch (...) {
    release();
    throw;
  }
}

Described::~Described() {
  release();
}

void Described::scale_by(const float* of_left, const float* of_right) {
  const auto point = [this](cublasLtMatmulDescAttributes_t which, const float* scale) {
    library.check(library.desc_set(product, which, static_cast<const void*>(&scale), sizeof(scale)),
                  "scale");
  };
  point(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_left);
  point(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_right);
}

void Described::release() {
  for (cublasLtMatrixLayout_t layout : {left, right, result})
    if (layout != nullptr) library.layout_destroy(layout);
  if (product != nullptr) library.desc_destroy(product);
}

cublasLtMatmulAlgo_t Algorithms::of(cublasLtHandle_t handle, const Described& described,
                                    const ProductShape& shape) {
  const std::scoped_lock lock(choosing_);
  const auto known = chosen_.find(shape);
  if (known != chosen_.end()) return known->second;
  return chosen_[shape] = best_algorithm(handle, described, shape.alignment);
}

cublasLtMatmulAlgo_t best_algorithm(cublasLtHandle_t handle, const Described& d,
                                    std::uint32_t alignment) {
  const CublasLt& lt = d.library;
  cublasLtMatmulPreference_t preference = nullptr;
  lt.check(lt.preference_create(&preference), "preference");
  cublasStatus_t status = lt.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &kLibraryBytes, sizeof(kLibraryBytes));
  // Unless told otherwise, the library takes all addresses for multiples of 256.
  for (const auto which :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES})
    if (status == CUBLAS_STATUS_SUCCESS)
      status = lt.preference_set(preference, which, &alignment, sizeof(alignment));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = lt.heuristic(handle, d.product, d.left, d.right, d.result, d.result, preference, 1,
                          &found, &count);
  lt.preference_destroy(preference);
  lt.check(status, "choice of a kernel");
  if (count == 0) throw std::runtime_error("cuBLASLt has no kernel for this product");
  return found.algo;
}

}  // namespace hot::kernels
