// The GPU's bench in the simulator: its cases run, and its lines say what the aims are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/device/cases.hpp"
#include "tests/device/sim_backend.hpp"

namespace hot::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

device::Protocol once() {
  device::Protocol protocol;
  protocol.warm_up = 0;
  protocol.least = protocol.most = 2;
  return protocol;
}

TEST(DeviceBench, EveryPassRunsAndIsComparedWithACopy) {
  const kernels::SimBackend device;
  const auto figures = pass_figures(c10::kCPU, 1 << 19, once());
  EXPECT_EQ(figures.size(), 3U * 8U);
  for (const Figure& f : figures) {
    EXPECT_GT(f.ours_ms, 0) << f.what;
    EXPECT_GT(f.theirs_ms, 0) << f.what;
    EXPECT_THAT(f.line(), HasSubstr("% of copy bandwidth (aim 85 %)"));
  }
}

TEST(DeviceBench, ALayerIsComparedInBf16AndFp32) {
  const kernels::SimBackend device;
  for (const bool bf16 : {true, false}) {
    const Figure f = layer_figure(c10::kCPU, {"tiny", 32, 16, 48}, bf16, 2, once());
    EXPECT_GT(f.ours_ms, 0);
    EXPECT_GT(device.products_run, 0);
    EXPECT_THAT(f.line(), StartsWith("layer backward tiny (32 x 16 x 48), hot: "));
    EXPECT_THAT(f.line(),
                HasSubstr(bf16 ? "times BF16 (aim 2.0)" : "times FP32, TF32 off (aim 2.0)"));
  }
}

TEST(DeviceBench, LayersTogetherAddTheirTimesAndReachOrDont) {
  Figure a;
  a.group = "bf16";
  a.aim = 1.9;
  a.ours_ms = 1;
  a.theirs_ms = 3;
  a.settled = true;
  Figure b = a;
  b.theirs_ms = 1;
  const Figure both = together({a, b}, "both");
  EXPECT_DOUBLE_EQ(both.value, 2);
  EXPECT_EQ(both.line(), "both: 2.00 times BF16 (aim 1.9), reached");
  b.settled = false;
  b.ours_ms = 2;
  EXPECT_THAT(together({a, b}, "both").line(), HasSubstr("not reached; the interval"));
}

TEST(DeviceBench, TheShapesAreTheOnesOfTheAims) {
  for (const LayerSize& s : vit_layers()) EXPECT_EQ(s.rows, 50432);
  const auto ffn = feed_forward_layers();
  ASSERT_EQ(ffn.size(), 2U);
  for (const LayerSize& s : ffn) {
    EXPECT_EQ(s.rows, 15872);
    EXPECT_EQ(s.out * s.in, 4096 * 16384);
  }
}

}  // namespace
}  // namespace hot::bench
