#include "analyzers/cost/time_model.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hot::cost {
namespace {

TEST(TimeModelTest, KnowsNothingAtFirst) {
  TimeModel model;
  model.fit();
  EXPECT_EQ(model.factor("a", "int8"), 1);
  EXPECT_FALSE(model.error());
}

// Ratios that are a product of both sides are found again, also where they weren't measured.
TEST(TimeModelTest, ProductsOfBothSidesAreFound) {
  TimeModel model;
  const double gradients[] = {1, 2, 4, 8};
  const double schemes[] = {1, 1.5, 3};
  for (int g = 0; g < 4; ++g) {
    for (int s = 0; s < 3; ++s) {
      if (g == 3 && s == 2) continue;
      model.add(std::to_string(g), std::to_string(s), gradients[g] * schemes[s]);
    }
  }
  model.fit();
  EXPECT_NEAR(model.factor("3", "2"), 24, 24 * 0.15);  // drawn towards the mean by the prior
  EXPECT_NEAR(model.factor("0", "0"), 1, 0.15);
  EXPECT_LT(*model.error(), 0.15);
}

// Something unknown on one side counts as the mean of the other.
TEST(TimeModelTest, UnknownSidesAreMean) {
  TimeModel model;
  for (const char* g : {"a", "b", "c", "d"}) model.add(g, "int8", 2);
  model.fit();
  EXPECT_NEAR(model.factor("e", "int8"), 2, 1e-9);
  EXPECT_NEAR(model.factor("a", "int4"), 2, 1e-9);
  EXPECT_NEAR(*model.error(), 0, 1e-9);
}

}  // namespace
}  // namespace hot::cost
