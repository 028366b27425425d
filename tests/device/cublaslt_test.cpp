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

TEST(CublasLtDescription, OfAnFp8ProductHasFloatSumsAndBothScales) {
  const ProductShape shape = fp8_shape(17, 32, 64);
  Described d(CublasLt::get(), shape);
  const float of_left = 2;
  const float of_right = 3;
  d.scale_by(&of_left, &of_right);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE),
            CUBLAS_COMPUTE_32F);
  EXPECT_EQ(attribute<std::int32_t>(d.product, CUBLASLT_MATMUL_DESC_SCALE_TYPE), CUDA_R_32F);
  EXPECT_EQ(attribute<const float*>(d.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER), &of_left);
  EXPECT_EQ(attribute<const float*>(d.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER), &of_right);
  check_layout(d.left, CUDA_R_8F_E4M3, 64, 32, 64);
  check_layout(d.right, CUDA_R_8F_E4M3, 64, 17, 64);
  check_layout(d.result, CUDA_R_32F, 32, 17, 32);
}

TEST(CublasLtDescription, Fp8SizesThatTensorCoresDontTakeAreRefused) {
  EXPECT_THROW((void)fp8_shape(16, 16, 17), std::logic_error);
  EXPECT_THROW((void)fp8_shape(16, 20, 32), std::logic_error);
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
}

}  // namespace
}  // namespace hot::kernels
