#include "analyzers/cost/layer_clock.hpp"

#include <gtest/gtest.h>

namespace hot::cost {
namespace {

Geometry linear() {
  return {{}, {64, 32}, {48, 32}};
}

Geometry convolution(std::int64_t kernel, std::int64_t stride, bool transposed) {
  Geometry g;
  g.window.convolution = true;
  g.window.transposed = transposed;
  g.window.kernel = {kernel, kernel};
  g.window.stride = {stride, stride};
  g.window.padding = {kernel / 2, kernel / 2};
  g.window.dilation = {1, 1};
  g.window.output_padding = {0, 0};
  g.x = {2, 16, 9, 9};
  g.weight = {16, 16, kernel, kernel};
  return g;
}

// Both gradients run, exact and by a scheme, at every kind of shape: a scheme that did not run is
// an exception, sizes that don't fit are torch's. How long they take is no test.
TEST(LayerClockTest, EveryKindOfLayerRuns) {
  for (const Geometry& g : {linear(), convolution(1, 1, false), convolution(3, 1, false),
                            convolution(3, 2, false), convolution(3, 2, true)}) {
    LayerClock clock(g);
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      EXPECT_GT(clock.exact(path), 0) << g.key();
      EXPECT_GT(clock.by_scheme(path, parse_scheme("none+int8/tensor")), 0) << g.key();
      EXPECT_GT(clock.by_scheme(path, parse_scheme("low16r8")), 0) << g.key();
    }
  }
}

TEST(GeometryTest, KeysTellShapesApart) {
  EXPECT_NE(convolution(3, 1, false).key(), convolution(3, 2, false).key());
  EXPECT_NE(convolution(3, 2, false).key(), convolution(3, 2, true).key());
  EXPECT_EQ(linear().key(), linear().key());
}

}  // namespace
}  // namespace hot::cost
