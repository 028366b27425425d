// Conversions of 16-bit floats: by their definitions, for all bit patterns.
#include "kernels/cuda/number.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hot::kernels {
namespace {

/// The value of a binary16, from its fields.
double value_of(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(NumberTest, EveryHalfIsItsValueAndComesBack) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = to_float(half);
    const bool special = (bits & 0x7c00) == 0x7c00;
    if (special && (bits & 0x3ff) != 0) {
      EXPECT_TRUE(std::isnan(value));
      EXPECT_TRUE(std::isnan(to_float(from_float<Half>(value))));
      continue;
    }
    if (!special) {
      EXPECT_EQ(value, value_of(half.bits)) << bits;
    }
    EXPECT_EQ(from_float<Half>(value).bits, half.bits) << bits;
  }
}

TEST(NumberTest, HalvesBetweenTwoNeighboursGoToTheEvenOne) {
  for (int bits = 0; bits < 0x7bff; ++bits) {
    const float low = to_float(Half{static_cast<std::uint16_t>(bits)});
    const float high = to_float(Half{static_cast<std::uint16_t>(bits + 1)});
    const float middle = low + (high - low) / 2;
    EXPECT_EQ(from_float<Half>(middle).bits, bits + bits % 2);
    EXPECT_EQ(from_float<Half>(std::nextafter(middle, 0.0F)).bits, bits);
    EXPECT_EQ(from_float<Half>(std::nextafter(middle, high)).bits, bits + 1);
  }
  EXPECT_EQ(from_float<Half>(65519.996F).bits, 0x7bff);
  EXPECT_EQ(from_float<Half>(65520.0F).bits, 0x7c00);
}

TEST(NumberTest, BfloatsRoundToTheNearestAndKeepNan) {
  EXPECT_EQ(from_float<Bfloat16>(1.0F).bits, 0x3f80);
  EXPECT_EQ(from_float<Bfloat16>(std::bit_cast<float>(0x3f808000)).bits, 0x3f80);
  EXPECT_EQ(from_float<Bfloat16>(std::bit_cast<float>(0x3f818000)).bits, 0x3f82);
  EXPECT_EQ(from_float<Bfloat16>(std::bit_cast<float>(0x3f808001)).bits, 0x3f81);
  EXPECT_TRUE(std::isnan(to_float(from_float<Bfloat16>(std::nanf("")))));
  EXPECT_EQ(to_float(Bfloat16{0xc040}), -3.0F);
}

}  // namespace
}  // namespace hot::kernels
