#include "analyzers/verify/verify.hpp"

#include <gtest/gtest.h>

#include "analyzers/trace/trace.hpp"
#include "analyzers/verify/gradients.hpp"
#include "analyzers/verify/judge.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::verify {
namespace {

using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;

// ‖(0,1)‖ / ‖(3,4)‖ = 0.2, and ⟨(3,4),(3,5)⟩ / (5·√34).
TEST(GradientsTest, HandDerived) {
  const auto c =
      compare({at::tensor({3.F}), at::tensor({4.F})}, {at::tensor({3.F}), at::tensor({5.F})});
  EXPECT_NEAR(c.relative_error, 0.2, 1e-12);
  EXPECT_NEAR(c.cosine, 29 / (5 * std::sqrt(34.0)), 1e-12);
  EXPECT_TRUE(c.finite);
  EXPECT_FALSE(compare({at::tensor({1.F})}, {at::tensor({NAN})}).finite);
  EXPECT_EQ(compare({at::zeros({2})}, {at::Tensor()}).relative_error, 0);
}

LayerVerification judged(std::int64_t ran, double speedup, double bytes_plan, double deviation = 0,
                         bool finite = true) {
  LayerTrace trace;
  trace.path(Path::grad_weight).calls = 2;
  LayerPlan plan;
  plan.grad_weight = parse_scheme("none+int8");
  backward::LayerRuns runs;
  runs.grad_weight = ran;
  runs.kernel_deviation = deviation;
  LayerVerification layer;
  layer.metrics.set("speedup", speedup, Origin::measured);
  layer.metrics.set("saved_bytes_exact", 100, Origin::measured);
  layer.metrics.set("saved_bytes_plan", bytes_plan, Origin::measured);
  GradientComparison gradient;
  gradient.finite = finite;
  judge_layer(layer, trace, plan, &runs, gradient);
  return layer;
}

// Every outcome has its cause.
TEST(JudgeTest, OutcomesOfALayer) {
  EXPECT_EQ(judged(2, 1.5, 100).outcome, Outcome::passed);
  EXPECT_EQ(judged(2, 0.5, 25).outcome, Outcome::passed);
  EXPECT_EQ(judged(2, 0.5, 100).outcome, Outcome::slower);
  EXPECT_EQ(judged(1, 1.5, 25).outcome, Outcome::incorrect);
  EXPECT_EQ(judged(3, 1.5, 25).outcome, Outcome::incorrect);
  EXPECT_EQ(judged(0, 1.5, 25).outcome, Outcome::unsupported);
  EXPECT_EQ(judged(2, 1.5, 25, 1e-3).outcome, Outcome::incorrect);
  EXPECT_EQ(judged(2, 1.5, 25, 0, false).outcome, Outcome::incorrect);
}

// A plan whose kernels are right but which misses its limit is neither passed nor incorrect.
TEST(JudgeTest, AMissedLimitIsTheOutcome) {
  Verification v;
  v.layers.push_back(judged(2, 1.5, 25));
  v.total = v.layers[0].metrics;
  judge_total(v, "");
  EXPECT_EQ(v.outcome, Outcome::passed);
  judge_total(v, "the whole gradient's error is 0.2, over --max-error 0.1");
  EXPECT_EQ(v.outcome, Outcome::over_limit);
  EXPECT_EQ(v.reason, "the whole gradient's error is 0.2, over --max-error 0.1");
  v.layers.push_back(judged(1, 1.5, 25));
  judge_total(v, "something");
  EXPECT_EQ(v.outcome, Outcome::incorrect);
}

Plan plan_of(const Trace& trace, const std::string& grad_input, const std::string& grad_weight) {
  Plan plan;
  for (const auto& layer : trace.layers) {
    if (!layer.eligible) continue;
    LayerPlan p;
    p.name = layer.name;
    if (layer.path(Path::grad_input).calls > 0) p.grad_input = parse_scheme(grad_input);
    p.grad_weight = parse_scheme(grad_weight);
    plan.layers.push_back(p);
  }
  return plan;
}

class VerifyTest : public ::testing::Test {
 protected:
  Verification run(Plan plan) {
    Options options;
    options.seed = 1;
    options.repeats = 2;
    return verify(model_, inputs_, loss_, trace_, plan, options, nullptr);
  }
  models::Model model_ = mixed_model();
  models::Inputs inputs_ = mixed_inputs();
  models::Loss loss_ = output_loss(model_, inputs_);
  Trace trace_ = trace::trace(model_, inputs_, loss_, 1, nullptr);
};

// The hot preset's schemes run in every eligible layer, as often as the trace says.
TEST_F(VerifyTest, PlannedLayersRunAndAreCounted) {
  const auto v = run(plan_of(trace_, "had16+int4/row/stochastic", "low16r8+int8/tensor"));
  EXPECT_NE(v.outcome, Outcome::incorrect) << v.reason;
  EXPECT_LT(v.total.value("self_check"), 2e-6);
  EXPECT_GT(v.total.value("gradient_error"), 0.001);
  ASSERT_EQ(v.layers.size(), 6U);
  for (const auto& layer : v.layers) {
    EXPECT_EQ(layer.kernel_calls, layer.expected_calls) << layer.name;
    EXPECT_GT(layer.kernel_calls, 0) << layer.name;
    EXPECT_LT(layer.metrics.value("kernel_deviation"), kKernelTolerance) << layer.name;
  }
}

// A plan that leaves everything exact has nothing to verify but that replacing changes nothing.
TEST_F(VerifyTest, ExactPlanIsNotRun) {
  const auto v = run(plan_of(trace_, "exact", "exact"));
  EXPECT_EQ(v.outcome, Outcome::not_run);
  EXPECT_LT(v.total.value("self_check"), 2e-6);
}

// A layer whose backward doesn't pass through the kernels as often as traced is incorrect, never
// passed.
TEST_F(VerifyTest, MissingCallsAreIncorrect) {
  const auto plan = plan_of(trace_, "none+int8", "none+int8");
  ++trace_.layers.front().path(Path::grad_weight).calls;
  const auto v = run(plan);
  EXPECT_EQ(v.outcome, Outcome::incorrect);
  EXPECT_NE(v.reason.find("backward products went through the kernels"), std::string::npos)
      << v.reason;
}

}  // namespace
}  // namespace hot::verify
