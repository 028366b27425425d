#include "kernels/common/hadamard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "kernels/common/basis.hpp"
#include "tests/kernels/matrices.hpp"

namespace hot::kernels {
namespace {

// H_{2n} = [[H_n, H_n], [H_n, −H_n]], Sylvester's construction, from H_1 = [1].
TEST(Hadamard, SignsFollowSylvestersConstruction) {
  EXPECT_EQ(hadamard_sign(0, 0), 1);
  for (int n = 1; n <= 64; n *= 2)
    for (int row = 0; row < n; ++row)
      for (int col = 0; col < n; ++col) {
        const int quarter = hadamard_sign(row, col);
        EXPECT_EQ(hadamard_sign(row, col + n), quarter);
        EXPECT_EQ(hadamard_sign(row + n, col), quarter);
        EXPECT_EQ(hadamard_sign(row + n, col + n), -quarter);
      }
}

// Small integers add exactly, so the butterflies must give the matrix product to the bit.
TEST(Hadamard, ButterfliesAreTheMatrixProduct) {
  constexpr int kOrder = 16;
  float values[kOrder];
  int expected[kOrder] = {};
  for (int i = 0; i < kOrder; ++i) values[i] = static_cast<float>(i * i % 23 - 11);
  for (int row = 0; row < kOrder; ++row)
    for (int i = 0; i < kOrder; ++i)
      expected[row] += hadamard_sign(row, i) * static_cast<int>(values[i]);
  hadamard_in_place(values);
  EXPECT_THAT(values, testing::ElementsAreArray(expected));
}

TEST(Hadamard, SequencyCountsSignChanges) {
  for (int order = 1; order <= 128; order *= 2)
    for (int row = 0; row < order; ++row) {
      int changes = 0;
      for (int col = 1; col < order; ++col)
        changes += hadamard_sign(row, col) != hadamard_sign(row, col - 1) ? 1 : 0;
      EXPECT_EQ(sequency_of_row(row, order), changes);
      EXPECT_EQ(row_of_sequency(changes, order), row);
    }
}

nlohmann::json golden_basis() {
  std::ifstream in(HOT_SOURCE_DIR "/tests/golden/basis.json");
  return nlohmann::json::parse(in);
}

TEST(Basis, OrdersAreTheGoldenOnes) {
  const nlohmann::json bases = golden_basis();
  for (const auto& [key, golden] : bases.items()) {
    const int order = std::stoi(key);
    EXPECT_EQ(kept_rows(lowrank(order, order)), golden.at("rows_by_sequency"));
    if (!golden.contains("rows_by_lp_l1")) continue;
    EXPECT_EQ(kept_rows(lowrank(order, order, Basis::lp_l1)), golden.at("rows_by_lp_l1"));
    EXPECT_EQ(sequencies_in_order(order, Basis::lp_l1), golden.at("sequencies_by_lp_l1"));
  }
}

// methods.md, section 2: at n = 16, r = 10 these are sequencies {0,1,7,2,6,8,3,5,9,15}.
TEST(Basis, LpL1KeepsTheDocumentedTenOfSixteen) {
  std::vector<int> sequencies;
  for (const int row : kept_rows(lowrank(16, 10, Basis::lp_l1)))
    sequencies.push_back(sequency_of_row(row, 16));
  EXPECT_THAT(sequencies, testing::ElementsAre(0, 1, 7, 2, 6, 8, 3, 5, 9, 15));
}

TEST(Basis, AFullTransformKeepsEveryRowInNaturalOrder) {
  EXPECT_THAT(kept_rows(hadamard(8)), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Basis, ImpossibleTransformsAreBugs) {
  EXPECT_THROW((void)kept_rows(lowrank(16, 17)), std::logic_error);
  EXPECT_THROW((void)kept_rows(lowrank(16, 0)), std::logic_error);
  EXPECT_THROW((void)kept_rows(hadamard(12)), std::logic_error);
  EXPECT_THROW((void)kept_rows(lowrank(8, 4, Basis::lp_l1)), std::logic_error);
}

}  // namespace
}  // namespace hot::kernels
