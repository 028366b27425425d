#include "analyzers/measure/outliers.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "analyzers/measure/operand_facts.hpp"

namespace hot::measure {
namespace {

// The largest hundredth of 200 is two: (9 + 9)/(18 + 198).
TEST(OutliersTest, ConcentrationOfTheLargestHundredth) {
  std::vector<double> energies(200, 1);
  energies[3] = energies[77] = 9;
  const Concentration c = concentration(energies);
  EXPECT_DOUBLE_EQ(c.share, 18.0 / 216);
  EXPECT_DOUBLE_EQ(c.ratio, 18.0 / 216 * 100);
  EXPECT_EQ(concentration(std::vector<double>(5)).share, 0);
}

// ±1 has kurtosis 1; a single value among n zeros has n. Weights count as copies.
TEST(OutliersTest, Kurtosis) {
  EXPECT_DOUBLE_EQ(kurtosis(at::tensor({1.F, -1.F, 1.F, -1.F}).view({2, 2}), {}, {}), 1);
  at::Tensor one = at::zeros({4, 4});
  one[1][2] = 3;
  EXPECT_DOUBLE_EQ(kurtosis(one, {}, {}), 16);
  EXPECT_DOUBLE_EQ(kurtosis(at::tensor({1.F, 0.F}).view({2, 1}), {1, 3}, {}), 4);
  EXPECT_EQ(kurtosis(at::zeros({2, 2}), {}, {}), 0);
}

Product product_of(const at::Tensor& gy, const at::Tensor& x) {
  const auto all = [](std::int64_t count) {
    Axis axis;
    for (std::int64_t i = 0; i < count; ++i) axis.index.push_back(i);
    axis.weight.assign(static_cast<std::size_t>(count), 1);
    return axis;
  };
  return {.path = Path::grad_weight,
          .gy = {gy, kernels::Along::rows, Maxima(kernels::Along::rows, {})},
          .other = {x, kernels::Along::rows, Maxima(kernels::Along::rows, {})},
          .rows = all(gy.size(1)),
          .cols = all(x.size(1))};
}

// A large token is a row of gy: the transform along L spreads it. A large channel of x is a column,
// which runs along L: the transform has nothing to spread.
TEST(OutliersTest, SidesOfBothOperands) {
  at::manual_seed(0);
  at::Tensor gy = at::randn({256, 64});
  at::Tensor x = at::randn({256, 64});
  gy[5] *= 40;
  x.select(1, 9).mul_(40);
  const auto facts = operand_facts(product_of(gy, x), energies(gy));
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].operand, "gy");
  EXPECT_EQ(facts[0].side, OutlierSide::rows);
  EXPECT_FALSE(facts[0].transform_misses());
  EXPECT_LT(facts[0].kurtosis_after, facts[0].kurtosis / 4);
  EXPECT_EQ(facts[1].operand, "x");
  EXPECT_EQ(facts[1].side, OutlierSide::columns);
  EXPECT_TRUE(facts[1].transform_misses());
  EXPECT_GT(facts[1].kurtosis_after, facts[1].kurtosis / 2);
}

TEST(OutliersTest, NormalValuesHaveNone) {
  at::manual_seed(0);
  const at::Tensor gy = at::randn({256, 64});
  for (const OperandFacts& f : operand_facts(product_of(gy, gy), energies(gy))) {
    EXPECT_EQ(f.side, OutlierSide::none);
    EXPECT_NEAR(f.kurtosis, 3, 0.3);
    EXPECT_NEAR(f.kurtosis_after, 3, 0.3);
  }
}

}  // namespace
}  // namespace hot::measure
