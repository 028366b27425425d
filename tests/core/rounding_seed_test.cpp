#include "core/rounding_seed.hpp"

#include <gtest/gtest.h>

#include <set>

namespace hot {
namespace {

// Runs must repeat in later versions and in other programs: these numbers are the definition's,
// worked out by an independent program.
TEST(RoundingSeedTest, IsWhatItWas) {
  EXPECT_EQ(layer_seed(0, "head"), 0xE8AFBAF52487C1ACULL);
  EXPECT_EQ(layer_seed(7, "blocks.0.mlp.fc1"), 0x56EBCD2F5C05E243ULL);
  EXPECT_EQ(product_seed(100, Path::grad_input, 3), 106U);
  EXPECT_EQ(product_seed(100, Path::grad_weight, 3), 107U);
}

TEST(RoundingSeedTest, DiffersByRunLayerPathAndCount) {
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t run : {0U, 1U, 2U}) {
    for (const char* layer : {"a", "b", "a.b", ""}) {
      for (const Path path : {Path::grad_input, Path::grad_weight}) {
        for (std::int64_t count = 0; count < 50; ++count)
          seeds.insert(product_seed(layer_seed(run, layer), path, count));
      }
    }
  }
  EXPECT_EQ(seeds.size(), 3U * 4 * 2 * 50);
}

}  // namespace
}  // namespace hot
