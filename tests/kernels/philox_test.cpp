#include "kernels/common/philox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hot::kernels {
namespace {

using testing::ElementsAre;

// The known answers of the authors' library (Random123, kat_vectors, philox4x32 with 10 rounds).
TEST(Philox, GivesTheAuthorsKnownAnswers) {
  EXPECT_THAT(philox4x32(0, 0, 0, 0, 0, 0).word,
              ElementsAre(0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U));
  EXPECT_THAT(philox4x32(~0U, ~0U, ~0U, ~0U, ~0U, ~0U).word,
              ElementsAre(0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU));
  EXPECT_THAT(
      philox4x32(0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U, 0xa4093822U, 0x299f31d0U).word,
      ElementsAre(0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U));
}

// The group's number fills the lower half of the counter and the seed the key, low words first.
TEST(Philox, ElementsDrawByGroupAndSeed) {
  EXPECT_THAT(rounding_words(0x299f31d0a4093822U, 0x85a308d3243f6a88U).word,
              testing::ElementsAreArray(
                  philox4x32(0x243f6a88U, 0x85a308d3U, 0, 0, 0xa4093822U, 0x299f31d0U).word));
}

}  // namespace
}  // namespace hot::kernels
