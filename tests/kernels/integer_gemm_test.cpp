#include "kernels/integer_gemm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "core/errors.hpp"
#include "kernels/backward.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

at::Tensor in_int64(const at::Tensor& a, const at::Tensor& b) {
  return at::mm(a.to(at::kLong), b.to(at::kLong));
}

/// Those that this CPU can run.
std::vector<IntegerRoute> routes() {
  std::vector<IntegerRoute> all{IntegerRoute::int_mm, IntegerRoute::float32};
  if (brgemm_serves()) all.push_back(IntegerRoute::brgemm);
  return all;
}

const char* name_of(IntegerRoute route) {
  switch (route) {
    case IntegerRoute::brgemm:
      return "brgemm";
    case IntegerRoute::int_mm:
      return "int_mm";
    case IntegerRoute::float32:
      break;
  }
  return "float32";
}

class IntegerGemmTest : public testing::TestWithParam<IntegerRoute> {
 protected:
  void expect_exact(const at::Tensor& a, const at::Tensor& b, int largest) const {
    const at::Tensor ours = integer_gemm_by(GetParam(), a, b, largest);
    ASSERT_EQ(ours.scalar_type(), at::kInt);
    ASSERT_TRUE(at::equal(ours.to(at::kLong), in_int64(a, b)))
        << a.sizes() << " by " << b.sizes() << " of magnitude " << largest;
  }
};

TEST_P(IntegerGemmTest, EveryShapeIsExact) {
  for (const std::int64_t m : {0, 1, 2, 17, 64})
    for (const std::int64_t k : {0, 1, 15, 16, 33, 1040, 1041, 2500})
      for (const std::int64_t n : {0, 1, 3, 31})
        for (const int largest : {7, 127})
          expect_exact(random_levels(m, k, largest, 1), random_levels(k, n, largest, 2), largest);
}

// The worst sums: every product is +127², −127², or alternates; k is far beyond what float32 alone
// could hold.
TEST_P(IntegerGemmTest, ExtremeValuesAreExact) {
  for (const std::int64_t k : {64, 1040, 1041, 4096, 20000})
    for (const int left : {127, -127})
      for (const int right : {127, -127}) {
        const at::Tensor a = at::full({5, k}, left, at::kChar);
        at::Tensor b = at::full({k, 9}, right, at::kChar);
        expect_exact(a, b, 127);
        b.slice(0, 0, k, 2).neg_();
        expect_exact(a, b, 127);
        b.narrow(0, k / 2, k - k / 2).fill_(127);
        expect_exact(a, b, 127);
      }
}

TEST_P(IntegerGemmTest, StridesDoNotMatter) {
  const at::Tensor a = random_levels(33, 1100, 127, 3);
  const at::Tensor b = random_levels(1100, 17, 127, 4);
  for (const at::Tensor& left : other_strides(a))
    for (const at::Tensor& right : other_strides(b)) expect_exact(left, right, 127);
}

TEST(Packed, UnpackedIsTheMatrix) {
  for (const auto& [rows, cols] : {std::pair{0, 5}, {1, 1}, {5, 0}, {17, 33}, {130, 197}}) {
    const at::Tensor a = random_levels(rows, cols, 127, 3);
    EXPECT_TRUE(at::equal(unpacked(pack(a)), a));
    for (const at::Tensor& strided : other_strides(a))
      EXPECT_TRUE(at::equal(unpacked(pack(strided)), a));
  }
}

// A size of 1 may come with any stride, as in a transposed view of a single column.
TEST_P(IntegerGemmTest, StridesOfSingleRowsAndColumnsDoNotMatter) {
  for (const auto& [m, k, n] : {std::tuple{1, 2, 11}, {17, 1, 11}, {3, 17, 1}, {1, 1, 1}}) {
    const at::Tensor a = random_levels(m, k, 127, 3);
    const at::Tensor b = random_levels(k, n, 127, 4);
    for (const std::int64_t stride : {0, 1, 5}) {
      const at::Tensor left = a.as_strided(a.sizes(), {m == 1 ? stride : k, k == 1 ? stride : 1});
      const at::Tensor right = b.as_strided(b.sizes(), {k == 1 ? stride : n, n == 1 ? stride : 1});
      expect_exact(left, right, 127);
    }
  }
}

TEST_P(IntegerGemmTest, ScaledProductRoundsTheExactSumOnce) {
  for (const std::int64_t k : {0, 100, 1040, 3000}) {
    const at::Tensor a = random_levels(9, k, 127, 5);
    const at::Tensor b = random_levels(k, 7, 127, 6);
    const at::Tensor rows = at::arange(1, 10).to(at::kFloat) / 3;
    const at::Tensor cols = at::arange(1, 8).to(at::kFloat) / 7;
    const at::Tensor expected =
        in_int64(a, b).to(at::kFloat) * ((0.0625F * rows).unsqueeze(1) * cols);
    EXPECT_TRUE(
        at::equal(scaled_integer_product(GetParam(), a, b, 127, 0.0625F, rows, cols), expected));
  }
}

// 127² · 133,144 is the last sum below 2³¹. Longer products are split; the sum of the parts is
// still exact.
TEST_P(IntegerGemmTest, ProductsBeyondInt32AreSplit) {
  constexpr std::int64_t kTerms = 300001;
  const at::Tensor a = at::full({2, kTerms}, 127, at::kChar);
  const at::Tensor b = at::full({kTerms, 1}, 127, at::kChar);
  EXPECT_THROW((void)integer_gemm_by(GetParam(), a, b, 127), std::logic_error);
  const at::Tensor one = at::ones({1});
  EXPECT_TRUE(at::equal(scaled_integer_product(GetParam(), a, b, 127, 1, one, one),
                        in_int64(a, b).to(at::kFloat)));
  expect_exact(a.narrow(1, 0, 133144), b.narrow(0, 0, 133144), 127);
}

TEST_P(IntegerGemmTest, OtherShapesAndTypesAreBugs) {
  const at::Tensor a = random_levels(2, 3, 7, 1);
  EXPECT_THROW((void)integer_gemm_by(GetParam(), a, a, 7), std::logic_error);
  EXPECT_THROW((void)integer_gemm_by(GetParam(), a, a.t().to(at::kFloat), 7), std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Routes, IntegerGemmTest, testing::ValuesIn(routes()),
                         [](const auto& info) { return name_of(info.param); });

TEST(IntegerRoute, CanBeForcedAndSaysSo) {
  EXPECT_EQ(choose_integer_route("int_mm").route, IntegerRoute::int_mm);
  EXPECT_EQ(choose_integer_route("float32").route, IntegerRoute::float32);
  EXPECT_THAT(choose_integer_route("float32").reason, testing::HasSubstr("HOT_INT_GEMM"));
  try {
    (void)choose_integer_route("cublas");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("HOT_INT_GEMM=cublas"),
                                             testing::HasSubstr("float32")));
  }
}

TEST(IntegerRoute, IsMeasuredAndSaysBothSides) {
  const RouteChoice choice = probe_integer_routes();
  EXPECT_THAT(choice.reason, testing::HasSubstr("measured"));
  EXPECT_THAT(choice.reason, testing::HasSubstr("_int_mm"));
}

}  // namespace
}  // namespace hot::kernels
