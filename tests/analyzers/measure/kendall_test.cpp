#include "analyzers/measure/kendall.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hot::measure {
namespace {

using Values = std::vector<double>;

// Of the six pairs of four things one is turned round: (5 − 1)/6.
TEST(KendallTest, HandDerived) {
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 2, 3, 4}, Values{1, 2, 4, 3}), 4.0 / 6);
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 2, 3}, Values{10, 20, 30}), 1);
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 2, 3}, Values{3, 2, 1}), -1);
}

// tau-b: of (1,1,2) against (1,2,3) two pairs agree and one is tied on one side: 2/√(2·3).
TEST(KendallTest, TiesCountForNeitherSide) {
  EXPECT_DOUBLE_EQ(*kendall_tau(Values{1, 1, 2}, Values{1, 2, 3}), 2 / std::sqrt(6.0));
}

TEST(KendallTest, WhatRanksNothingHasNoTau) {
  EXPECT_FALSE(kendall_tau(Values{1}, Values{2}));
  EXPECT_FALSE(kendall_tau(Values{1, 1}, Values{1, 2}));
  EXPECT_FALSE(kendall_tau(Values{1, 2}, Values{1, 2, 3}));
}

TEST(KendallTest, MeanOverPairsOfRankings) {
  EXPECT_DOUBLE_EQ(*mean_tau({{1, 2, 3}, {1, 2, 3}, {3, 2, 1}}), (1.0 - 1 - 1) / 3);
  EXPECT_FALSE(mean_tau({{1, 2, 3}}));
}

}  // namespace
}  // namespace hot::measure
