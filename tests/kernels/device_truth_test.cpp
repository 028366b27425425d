#include "kernels/device_truth.hpp"

#include <gtest/gtest.h>

namespace hot::kernels {
namespace {

Support support(std::string_view format, int major, int minor) {
  for (const FormatSupport& f : format_support(major, minor))
    if (f.format == format) return f.support;
  ADD_FAILURE() << format;
  return Support::absent;
}

TEST(DeviceTruthTest, Int4IsNativeFromTuringToAda) {
  EXPECT_EQ(support("int4", 8, 0), Support::native);
  EXPECT_EQ(support("int4", 8, 9), Support::native);
  EXPECT_EQ(support("int4", 9, 0), Support::emulated);
  EXPECT_EQ(support("int4", 12, 0), Support::emulated);
  EXPECT_EQ(support("int4", 7, 0), Support::absent);
}

TEST(DeviceTruthTest, FloatFormatsBeginWithTheirGeneration) {
  EXPECT_EQ(support("fp8", 8, 6), Support::absent);
  EXPECT_EQ(support("fp8", 8, 9), Support::native);
  EXPECT_EQ(support("fp4", 9, 0), Support::absent);
  EXPECT_EQ(support("fp4", 10, 0), Support::native);
}

TEST(DeviceTruthTest, NothingEmulatedOrUnknownIsCalledFaster) {
  EXPECT_TRUE(may_be_faster("int4", 8, 0));
  EXPECT_FALSE(may_be_faster("int4", 9, 0));
  EXPECT_TRUE(may_be_faster("int8", 9, 0));
  EXPECT_FALSE(may_be_faster("fp6", 9, 0));
}

}  // namespace
}  // namespace hot::kernels
