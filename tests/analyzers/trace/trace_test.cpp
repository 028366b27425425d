#include "analyzers/trace/trace.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/errors.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::trace {
namespace {

using backward::testing::hand_made;
using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;
using backward::testing::parameter;

Trace trace_of(const models::Model& model, const models::Inputs& inputs) {
  return trace(model, inputs, output_loss(model, inputs), 1, nullptr);
}

const LayerTrace& layer(const Trace& trace, const std::string& name) {
  for (const auto& l : trace.layers) {
    if (l.name == name) return l;
  }
  throw std::logic_error("no layer " + name);
}

GemmShape only_gemm(const Trace& trace, const std::string& name, Path path) {
  const auto& gemms = layer(trace, name).path(path).gemms;
  EXPECT_EQ(gemms.size(), 1U) << name;
  return gemms.empty() ? GemmShape{} : gemms.front();
}

// Shapes worked out by hand: 4 images of 12×12 → stem stride 2 → 6×6 → transposed ×2 → 12×12
// tokens.
TEST(TraceTest, ShapesAndEligibilityOfEveryKind) {
  const auto t = trace_of(mixed_model(), mixed_inputs());
  const std::int64_t small = 4 * 6 * 6;
  const std::int64_t tokens = 4 * 12 * 12;
  EXPECT_EQ(only_gemm(t, "stem", Path::forward), (GemmShape{small, 8, 27, 1}));
  EXPECT_EQ(only_gemm(t, "stem", Path::grad_weight), (GemmShape{8, 27, small, 1}));
  EXPECT_EQ(layer(t, "stem").path(Path::grad_input).calls, 0);
  EXPECT_EQ(only_gemm(t, "depthwise", Path::grad_input), (GemmShape{small, 9, 1, 8}));
  EXPECT_EQ(only_gemm(t, "pointwise", Path::grad_input), (GemmShape{small, 8, 12, 1}));
  EXPECT_EQ(only_gemm(t, "up", Path::grad_input), (GemmShape{small, 12, 64, 1}));
  EXPECT_EQ(only_gemm(t, "up", Path::grad_weight), (GemmShape{64, 12, small, 1}));
  EXPECT_EQ(only_gemm(t, "first", Path::grad_input), (GemmShape{tokens, 16, 24, 1}));
  EXPECT_EQ(only_gemm(t, "first", Path::grad_weight), (GemmShape{24, 16, tokens, 1}));
  EXPECT_EQ(only_gemm(t, "plain", Path::grad_weight), (GemmShape{24, 16, tokens, 1}));
  EXPECT_EQ(only_gemm(t, "head", Path::grad_weight), (GemmShape{10, 24, 4, 1}));

  for (const auto& l : t.layers) {
    const bool planned = l.kind != LayerKind::matmul && l.name != "depthwise";
    EXPECT_EQ(l.eligible, planned) << l.name << ": " << l.reason;
    EXPECT_EQ(l.reason.empty(), planned) << l.name;
  }
  EXPECT_EQ(layer(t, "up").kind, LayerKind::conv_transpose);
  std::int64_t sum = 0;
  for (const auto& l : t.layers) {
    sum += l.path(Path::grad_input).flops + l.path(Path::grad_weight).flops;
  }
  EXPECT_EQ(sum, t.backward_flops);
  EXPECT_GT(t.saved_bytes, 0);
  EXPECT_GE(t.peak_bytes, t.saved_bytes);
}

models::Inputs rows(std::int64_t n, std::int64_t width) {
  models::Inputs inputs;
  inputs.batches.push_back({{at::randn({n, width})}, {}});
  return inputs;
}

// A zero head stops every gradient below it; the report says so instead of printing errors of
// nothing.
TEST(TraceTest, ZeroHeadIsNamed) {
  const auto model = hand_made(
      "def forward(self, x: Tensor):\n    return torch.linear(torch.linear(x, self.body), "
      "self.head)",
      {{"body", parameter({8, 8})}, {"head", at::zeros({4, 8})}});
  const auto t = trace_of(model, rows(4, 8));
  EXPECT_FALSE(layer(t, "body").eligible);
  EXPECT_EQ(layer(t, "body").reason, "its gradient is exactly zero");
  EXPECT_TRUE(layer(t, "head").eligible);
  ASSERT_FALSE(t.notes.empty());
  EXPECT_NE(
      t.notes.front().find("1 of 2 layers have an exactly zero gradient (body): head is all zero"),
      std::string::npos)
      << t.notes.front();
}

TEST(TraceTest, ZeroScaleIsNamed) {
  const auto model = hand_made(
      "def forward(self, x: Tensor):\n    return x + torch.linear(x, self.body) * self.gamma",
      {{"body", parameter({8, 8})}, {"gamma", at::zeros({8})}, {"bias", at::zeros({8})}});
  const auto t = trace_of(model, rows(4, 8));
  ASSERT_FALSE(t.notes.empty());
  EXPECT_NE(t.notes.front().find("(body): gamma is all zero"), std::string::npos)
      << t.notes.front();
}

// A layer called in a loop is one layer; one that the loss doesn't reach, or that is frozen, says
// so.
TEST(TraceTest, LoopsUnreachedAndFrozenLayers) {
  auto model = hand_made(
      R"(
def forward(self, x: Tensor):
    for i in range(3):
        x = torch.tanh(torch.linear(x, self.loop))
    unused = torch.linear(x, self.unused)
    x = x + unused.detach()
    return torch.linear(x, self.frozen)
)",
      {{"loop", parameter({8, 8})}, {"unused", parameter({8, 8})}, {"frozen", parameter({4, 8})}});
  model.parameters[2].tensor.requires_grad_(false);
  const auto t = trace_of(model, rows(5, 8));
  EXPECT_EQ(layer(t, "loop").calls, 3);
  EXPECT_EQ(layer(t, "loop").path(Path::grad_weight).calls, 3);
  EXPECT_EQ(layer(t, "loop").path(Path::grad_input).calls, 2);  // not of the model's input
  EXPECT_EQ(layer(t, "unused").reason, "the loss doesn't reach it: no gradient arrives");
  EXPECT_TRUE(layer(t, "frozen").eligible);
  EXPECT_EQ(layer(t, "frozen").path(Path::grad_weight).calls, 0);
}

// NaN and infinity end the run with the layer where they begin.
TEST(TraceTest, NotFiniteNamesTheLayer) {
  const auto model = hand_made(
      "def forward(self, x: Tensor):\n"
      "    return torch.linear(torch.log(torch.linear(x, self.a) * 0.0 - 1.0), self.b)",
      {{"a", parameter({8, 8})}, {"b", parameter({4, 8})}});
  try {
    static_cast<void>(trace_of(model, rows(4, 8)));
    FAIL() << "NaN went unnoticed";
  } catch (const ModelError& error) {
    EXPECT_NE(std::string(error.what()).find("the input of layer 'b' holds NaN"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace hot::trace
