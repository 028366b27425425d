#include "kernels/common/quantize.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/common/philox.hpp"

namespace hot::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Quantize, NearestRoundsHalvesToEven) {
  EXPECT_EQ(round_nearest(0.5F), 0);
  EXPECT_EQ(round_nearest(1.5F), 2);
  EXPECT_EQ(round_nearest(2.5F), 2);
  EXPECT_EQ(round_nearest(-0.5F), 0);
  EXPECT_EQ(round_nearest(-1.5F), -2);
  EXPECT_EQ(round_nearest(-2.5F), -2);
  EXPECT_EQ(round_nearest(126.5F), 126);
}

TEST(Quantize, NearestAgreesWithTheLibraryEverywhereInRange) {
  for (float t = -128; t <= 128; t += 0.03125F)
    EXPECT_EQ(round_nearest(t), static_cast<int>(std::nearbyint(t))) << t;
}

// The word decides against the fraction: below it up, else down; floor also for negative numbers.
TEST(Quantize, StochasticTakesOneOfTheTwoNeighbours) {
  constexpr std::uint32_t kLow = 0;
  constexpr std::uint32_t kHigh = 0xffff;
  EXPECT_EQ(round_stochastic(2.25F, kLow), 3);
  EXPECT_EQ(round_stochastic(2.25F, 0x3fffU), 3);
  EXPECT_EQ(round_stochastic(2.25F, 0x4000U), 2);
  EXPECT_EQ(round_stochastic(2.25F, kHigh), 2);
  EXPECT_EQ(round_stochastic(-2.25F, kLow), -2);
  EXPECT_EQ(round_stochastic(-2.25F, kHigh), -3);
  for (const std::uint32_t bits : {kLow, kHigh}) {  // integers stay
    EXPECT_EQ(round_stochastic(3, bits), 3);
    EXPECT_EQ(round_stochastic(-7, bits), -7);
    EXPECT_EQ(round_stochastic(0, bits), 0);
  }
}

// The mean over N draws deviates from t with standard deviation √(f(1−f)/N); five of those hold for
// these seeds.
TEST(Quantize, StochasticIsUnbiased) {
  constexpr int kGroups = 25000;
  for (const float t : {0.1F, 0.5F, -0.3F, 6.9F, -6.01F}) {
    double sum = 0;
    for (std::uint64_t group = 0; group < kGroups; ++group)
      for (int lane = 0; lane < kElementsPerGroup; ++lane)
        sum += round_stochastic(t, rounding_bits(rounding_words(7, group), lane));
    const double fraction = t - std::floor(t);
    const double deviation = std::sqrt(fraction * (1 - fraction) / (kElementsPerGroup * kGroups));
    EXPECT_NEAR(sum / (kElementsPerGroup * kGroups), t, 5 * deviation) << t;
  }
}

TEST(Quantize, ScalesAreTheLargestMagnitudeOverTheLevel) {
  EXPECT_EQ(scale_for(14, 7), 2);
  EXPECT_EQ(scale_for(0, 7), 1);
  EXPECT_EQ(scale_for(std::numeric_limits<float>::denorm_min(), 127), 1);
  EXPECT_TRUE(std::isnan(scale_for(kNan, 7)));
}

TEST(Quantize, QuotientsStayInsideTheLevels) {
  EXPECT_EQ(scaled_to_level(6, 2, 7), 3);
  EXPECT_EQ(scaled_to_level(100, 2, 7), 7);
  EXPECT_EQ(scaled_to_level(-100, 2, 7), -7);
  EXPECT_EQ(scaled_to_level(-kInfinity, 1, 7), -7);
  EXPECT_EQ(scaled_to_level(kNan, 1, 7), 7);
}

TEST(Quantize, LargerMagnitudeKeepsNan) {
  EXPECT_EQ(larger_magnitude(-3, 2), 3);
  EXPECT_EQ(larger_magnitude(0, -0.0F), 0);
  EXPECT_EQ(larger_magnitude(-kInfinity, 2), kInfinity);
  EXPECT_TRUE(std::isnan(larger_magnitude(kNan, kInfinity)));
  EXPECT_TRUE(std::isnan(larger_magnitude(1, -kNan)));
}

}  // namespace
}  // namespace hot::kernels
