#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "backward/observe.hpp"
#include "backward/peak_memory.hpp"
#include "backward/replace.hpp"
#include "backward/saved_bytes.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::backward {
namespace {

using testing::mixed_inputs;
using testing::mixed_model;
using testing::output_loss;

class StepTest : public ::testing::Test {
 protected:
  models::StepResult run(const std::function<void()>& between = nullptr) {
    return models::run_step(model_, inputs_.batches.front(), loss_, 5, between);
  }

  models::Model model_ = mixed_model();
  models::Inputs inputs_ = mixed_inputs();
  models::Loss loss_ = output_loss(model_, inputs_);
};

const std::vector<std::string> kPlannable = {"stem", "pointwise", "up", "plain", "first", "head"};

// Watching a step changes no bit of any gradient, and every plannable layer is shown with operands
// whose products are its gradients.
TEST_F(StepTest, ObservedGradientsAreBitIdenticalAndOperandsAreTheRealOnes) {
  const auto plain = run();
  std::map<std::string, at::Tensor> shown;
  models::StepResult observed;
  {
    Observation observation(model_, [&](const Operands& o) {
      EXPECT_FALSE(shown.contains(o.layer)) << o.layer;
      shown[o.layer] = grad_weight_from_matrix(o, gy_matrix(o).t().mm(x_matrix(o)));
    });
    observed = run();
    observation.rethrow();
  }
  for (std::size_t i = 0; i < plain.gradients.size(); ++i) {
    EXPECT_TRUE(at::equal(plain.gradients[i], observed.gradients[i]))
        << model_.parameters[i].names.front();
  }
  ASSERT_EQ(shown.size(), kPlannable.size());
  for (std::size_t i = 0; i < plain.gradients.size(); ++i) {
    const auto found = shown.find(model_.parameters[i].names.front());
    if (found == shown.end()) continue;
    const auto& gradient = plain.gradients[i];
    const auto& own = found->second;
    const auto same = own.sizes() == gradient.sizes() ? own : own.t();
    EXPECT_LT(((same - gradient).norm() / gradient.norm()).item<double>(), 1e-5) << found->first;
  }
}

// What a callback throws arrives after the step, and nothing more is shown.
TEST_F(StepTest, ExceptionsOfTheCallbackAreKept) {
  int calls = 0;
  Observation observation(model_, [&](const Operands&) {
    ++calls;
    throw std::runtime_error("stop here");
  });
  EXPECT_NO_THROW(run());
  EXPECT_EQ(calls, 1);
  EXPECT_THROW(observation.rethrow(), std::runtime_error);
}

std::map<std::string, LayerSchemes> all_by(const std::string& grad_input,
                                           const std::string& grad_weight) {
  std::map<std::string, LayerSchemes> layers;
  for (const auto& name : kPlannable) {
    layers[name] = {parse_scheme(grad_input), parse_scheme(grad_weight)};
  }
  return layers;
}

double deviation(const models::StepResult& a, const models::StepResult& b) {
  double error = 0;
  double squared = 0;
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    error += (a.gradients[i] - b.gradients[i]).pow(2).sum().item<double>();
    squared += b.gradients[i].pow(2).sum().item<double>();
  }
  return std::sqrt(error / squared);
}

// Layers that are replaced and left exact give the model's own gradients.
TEST_F(StepTest, ExactReplacementReproducesTheGradients) {
  const auto plain = run();
  Replacement replacement(model_, all_by("exact", "exact"), 0);
  EXPECT_LT(deviation(run(), plain), 2e-6);
  for (const auto& [name, runs] : replacement.runs()) {
    EXPECT_EQ(runs.grad_input, name == "stem" ? 0 : 1) << name;  // nothing below the stem needs one
    EXPECT_EQ(runs.grad_weight, 1) << name;
  }
}

// A transform without a format is exact but for float32 sums, so a whole plan of them must agree as
// well: every layer's operands reach the kernels in the right orientation.
TEST_F(StepTest, TransformsAloneReproduceTheGradients) {
  const auto plain = run();
  Replacement replacement(model_, all_by("had16", "had16"), 0, true);
  EXPECT_LT(deviation(run(), plain), 1e-5);
  for (const auto& [name, runs] : replacement.runs()) {
    EXPECT_EQ(runs.grad_weight, 1) << name;
    EXPECT_LT(runs.kernel_deviation, 1e-5) << name;
  }
}

// INT8 changes the gradients by about its rounding, runs in every layer, and is gone with the
// replacement.
TEST_F(StepTest, IntegerSchemesRunInEveryLayerAndEndWithTheReplacement) {
  const auto plain = run();
  {
    Replacement replacement(model_, all_by("none+int8/row", "had16+int8/tensor"), 0, true);
    const double error = deviation(run(), plain);
    EXPECT_GT(error, 1e-4);
    EXPECT_LT(error, 0.1);
    for (const auto& [name, runs] : replacement.runs()) {
      EXPECT_EQ(runs.grad_weight, 1) << name;
      EXPECT_LT(runs.kernel_deviation, 1e-5) << name;
    }
  }
  EXPECT_EQ(deviation(run(), plain), 0);
}

// Stochastic rounding repeats with its seed and differs with another.
TEST_F(StepTest, StochasticPlansAreReproducible) {
  const auto with_seed = [&](std::uint64_t seed) {
    Replacement replacement(model_, all_by("had16+int4/tensor/stochastic", "exact"), seed);
    return run();
  };
  const auto first = with_seed(1);
  EXPECT_EQ(deviation(with_seed(1), first), 0);
  EXPECT_GT(deviation(with_seed(2), first), 0);
}

// One linear layer keeps its input alone; the plan keeps int8 and a scale in its place (methods.md,
// ABC).
TEST(SavedBytesTest, CountsWhatTheGraphHolds) {
  const auto model = testing::hand_made(
      "def forward(self, x: Tensor):\n    return torch.linear(torch.linear(x, self.a), self.b)",
      {{"a", testing::parameter({32, 16})}, {"b", testing::parameter({8, 32})}});
  models::Inputs inputs;
  inputs.batches.push_back({{at::randn({64, 16})}, {}});
  const auto loss = testing::output_loss(model, inputs);
  const auto saved = [&] {
    SavedBytes bytes(model);
    std::int64_t total = 0;
    static_cast<void>(
        models::run_step(model, inputs.batches.front(), loss, 0, [&] { total = bytes.total(); }));
    return total;
  };
  const std::int64_t x_of_a = 64 * 16 * 4;
  const std::int64_t x_of_b = 64 * 32 * 4;
  const std::int64_t exact = saved();
  const std::int64_t outside = exact - x_of_a - x_of_b;  // the loss keeps its own random projection
  EXPECT_GE(outside, 0);
  Replacement replacement(model,
                          {{"b", {parse_scheme("exact"), parse_scheme("low16r8+int8/tensor")}}}, 0);
  const std::int64_t scale = 4;
  EXPECT_EQ(saved(), outside + x_of_a + x_of_b / 8 + scale);
}

// The allocator's reports: a tensor that comes and goes raises the peak by its size.
TEST(PeakMemoryTest, SeesWhatWasFreedAgain) {
  PeakMemory memory;
  { const auto t = at::empty({1 << 20}, at::kByte); }
  EXPECT_EQ(memory.peak_bytes(), 1 << 20);
}

}  // namespace
}  // namespace hot::backward
