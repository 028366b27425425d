// What cuBLASLt is told of a product: descriptions are host objects and need no GPU.
#include "kernels/cuda/cublaslt.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/fp8_gemm.hpp"
#include "kernels/cuda/library.hpp"

namespace hot::kernels {
namespace {

template <class T>
T attribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t which) {
  const Library library("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR));
  T value{};
  std::size_t written = 0;
  auto* get = library.function("cublasLtMatmulDescGetAttribute", &cublasLtMatmulDescGetAttribute);
  EXPECT_EQ(get(desc, which, &value, sizeof(value), &written), CUBLAS_STATUS_SUCCESS);
  return value;
}

template <class T>
T attribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which) {
  const Library library("libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR));
  T value{};
  std::size_t written = 0;
  auto* get =
      library.function("cublasLtMatrixLayoutGetAttribute", &cublasLtMatrixLayoutGetAttribute);
  EXPECT_EQ(get(layout, which, &value, sizeof(value), &written), CUBLAS_STATUS_SUCCESS);
  return value;
}

void check_layout(cublasLtMatrixLayout_t layout, cudaDataType type, std::uint64_t rows,
                  std::uint64_t cols, std::int64_t pitch) {
  EXPECT_EQ(attribute<std::uint32_t>(layout, CUBLASLT_MATRIX_LAYOUT_TYPE),
            static_cast<std::uint32_t>(type));
  EXPECT_EQ(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS), rows);
  EXPECT_EQ(attribute<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS), cols);
  EXPECT_EQ(attribute<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD), pitch);
}

// A row-major [rows × cols] result is, column-major, [cols × rows] = leftᵀ · right.
TEST(CublasLtDescription, OfAnInt8ProductIsTransposedOnTheLeftWithInt32Sums) {
  ProductShape shape;
  shape.rows = 32;
  shape.cols = 48;
  shape.terms = 64;
  shape.row_pitch = 80;  // a part of longer vectors
  shape.col_pitch = 96;
  const Described d(CublasLt::get(), shape);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_TRANSA), CUBLAS_OP_T);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_TRANSB), CUBLAS_OP_N);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE),
            CUBLAS_COMPUTE_32I);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_SCALE_TYPE), CUDA_R_32I);
  check_layout(d.left, CUDA_R_8I, 64, 48, 96);
  check_layout(d.right, CUDA_R_8I, 64, 32, 80);
  check_layout(d.result, CUDA_R_32I, 48, 32, 48);
}

Fp8Factor fp8_factor(std::int64_t free, std::int64_t terms, Format format) {
  Fp8Factor factor;
  factor.layout = level_layout(free, terms, Along::cols, Transform{}, false);
  factor.format = format;
  return factor;
}

TEST(CublasLtDescription, OfAnFp8ProductHasFloatSumsAndBothScales) {
  const ProductShape shape =
      fp8_shape(fp8_factor(17, 60, Format::fp8e4m3), fp8_factor(32, 60, Format::fp8e5m2));
  Described d(CublasLt::get(), shape);
  const float of_left = 2;
  const float of_right = 3;
  d.scale_by(&of_left, &of_right);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE),
            CUBLAS_COMPUTE_32F);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_SCALE_TYPE), CUDA_R_32F);
  EXPECT_EQ(attribute<const float*>(d.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER), &of_left);
  EXPECT_EQ(attribute<const float*>(d.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER), &of_right);
  check_layout(d.left, CUDA_R_8F_E5M2, 64, 32, 64);
  check_layout(d.right, CUDA_R_8F_E4M3, 64, 32, 64);  // 17, padded
  check_layout(d.result, CUDA_R_32F, 32, 32, 32);
}

TEST(CublasLtDescription, Fp8FactorsThatTensorCoresDontTakeAreRefused) {
  const Fp8Factor a = fp8_factor(16, 32, Format::fp8e5m2);
  EXPECT_THROW((void)fp8_shape(a, a), std::logic_error);  // no product of two e5m2
  EXPECT_THROW((void)fp8_shape(a, fp8_factor(16, 33, Format::fp8e4m3)), std::logic_error);
  EXPECT_THROW((void)fp8_shape(a, fp8_factor(16, 32, Format::int8)), std::logic_error);
  EXPECT_TRUE(has_fp8(8, 9));
  EXPECT_TRUE(has_fp8(9, 0));
  EXPECT_FALSE(has_fp8(8, 6));
  EXPECT_FALSE(has_fp8(8, 0));
}

// Equal shapes share a chosen kernel; any difference is another product.
TEST(CublasLtDescription, ShapesAreToldApart) {
  ProductShape a;
  a.rows = 16;
  ProductShape b = a;
  EXPECT_FALSE(a < b || b < a);
  b.col_pitch = 16;
  EXPECT_TRUE(a < b || b < a);
  b = a;
  b.right = CUDA_R_8F_E4M3;
  EXPECT_TRUE(a < b || b < a);
}

// Parts of a matrix begin at any multiple of 16 bytes: kernels that need more must not be chosen.
TEST(CublasLtDescription, TheAlignmentIsTheFactorsOwn) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
  EXPECT_EQ(alignment_of(at(4096), at(1024)), 256U);
  EXPECT_EQ(alignment_of(at(4096), at(4096 + 16)), 16U);
  EXPECT_EQ(alignment_of(at(4096 + 64), at(4096)), 64U);
  EXPECT_THROW((void)alignment_of(at(4096 + 8), at(4096)), std::logic_error);
  ProductShape a;
  ProductShape b;
  b.alignment = 16;
  EXPECT_TRUE(a < b || b < a);
}

}  // namespace
}  // namespace hot::kernels
