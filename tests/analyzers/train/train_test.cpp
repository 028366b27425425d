#include "analyzers/train/train.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzers/train/batch_order.hpp"
#include "analyzers/train/optimizer.hpp"
#include "analyzers/train/summary.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::train {
namespace {

using backward::testing::hand_made;
using backward::testing::parameter;

TEST(BatchOrderTest, EveryEpochHoldsEveryMinibatchOnceInAnotherOrder) {
  const auto order = batch_order(8, 20, 3);
  ASSERT_EQ(order.size(), 20U);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<std::int64_t> one(order.begin() + 8 * epoch, order.begin() + 8 * epoch + 8);
    std::sort(one.begin(), one.end());
    EXPECT_EQ(one, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
  EXPECT_FALSE(std::equal(order.begin(), order.begin() + 8, order.begin() + 8));
  EXPECT_EQ(order, batch_order(8, 20, 3));
  EXPECT_NE(order, batch_order(8, 20, 4));
}

// p = 1, gradient 2 twice, rate 0.1: 1 − 0.2, then momentum 0.9·2 + 2 = 3.8: 0.8 − 0.38.
TEST(OptimizerTest, SgdByHand) {
  const at::Tensor p = at::ones({1});
  Options options;
  options.optimizer = "sgd";
  options.rate = 0.1;
  const auto optimizer = make_optimizer({p}, options);
  p.mutable_grad() = at::full({1}, 2.F);
  optimizer->step();
  EXPECT_FLOAT_EQ(p.item<float>(), 0.8F);
  optimizer->step();
  EXPECT_FLOAT_EQ(p.item<float>(), 0.42F);
}

// The first step of AdamW is the rate in the gradient's direction, after p·(1 − rate·decay).
TEST(OptimizerTest, AdamWByHand) {
  const at::Tensor p = at::ones({1});
  const at::Tensor without_gradient = at::ones({1});
  Options options;
  options.rate = 0.1;
  options.weight_decay = 0.5;
  const auto optimizer = make_optimizer({p, without_gradient}, options);
  p.mutable_grad() = at::full({1}, 123.F);
  optimizer->step();
  EXPECT_NEAR(p.item<float>(), 0.95 - 0.1, 1e-6);
  EXPECT_EQ(without_gradient.item<float>(), 1);
}

Training with(std::vector<std::pair<double, double>> accuracies) {
  Training training;
  training.steps = 1;
  for (const auto& [exact, plan] : accuracies) {
    TrainingPair pair;
    pair.exact = {{1.0}, 0.002, 0.5, exact};
    pair.plan = {{1.5}, 0.001, 0.75, plan};
    training.pairs.push_back(pair);
  }
  return training;
}

// Differences 0 and −2: mean −1, standard error 1, t(1) = 12.706. The pairs' own spread of 40
// points doesn't matter.
TEST(SummaryTest, DifferencesArePaired) {
  Training training = with({{90, 90}, {50, 48}});
  summarize(training);
  const Metric* difference = training.total.find("accuracy_difference");
  ASSERT_NE(difference, nullptr);
  EXPECT_DOUBLE_EQ(difference->value, -1);
  EXPECT_NEAR(difference->ci95.value(), 12.706, 1e-3);
  EXPECT_DOUBLE_EQ(training.total.value("accuracy_exact"), 70);
  EXPECT_DOUBLE_EQ(training.total.value("held_out_loss_difference"), 0.25);
  EXPECT_DOUBLE_EQ(training.total.value("final_loss_difference"), 0.5);
  EXPECT_DOUBLE_EQ(training.total.value("step_speedup"), 2);
}

TEST(SummaryTest, OnePairHasNoIntervalAndMissingFiguresAreLeftOut) {
  Training training = with({{90, 80}});
  training.pairs[0].plan.accuracy.reset();
  summarize(training);
  EXPECT_EQ(training.total.find("accuracy_difference"), nullptr);
  EXPECT_FALSE(training.total.find("held_out_loss_difference")->ci95);
}

/// A small classifier that can learn its labels, and eight minibatches of it.
class TrainTest : public ::testing::Test {
 protected:
  TrainTest() {
    at::manual_seed(11);
    const at::Tensor teacher = at::randn({32, 4});
    for (int i = 0; i < 8; ++i) {
      const at::Tensor x = at::randn({16, 32});
      inputs_.batches.push_back({{x}, x.mm(teacher).argmax(1)});
    }
    options_.steps = 30;
    options_.seeds = 2;
    options_.rate = 1e-2;
    options_.hold_out = 0.25;
    options_.angles = 5;
  }

  Training run(const std::string& grad_input, const std::string& grad_weight) {
    const auto loss = models::Loss::choose("cross-entropy", model_, inputs_.batches.front(), 0);
    Plan plan;
    plan.layers.push_back({"hidden", {48, 32}, {}, parse_scheme(grad_weight), {}, {}});
    plan.layers.push_back(
        {"head", {4, 48}, parse_scheme(grad_input), parse_scheme(grad_weight), {}, {}});
    Training training;
    train(model_, inputs_, loss, plan, options_, nullptr, training);
    return training;
  }

  models::Model model_ = [] {
    at::manual_seed(12);
    return hand_made(
        "def forward(self, x: Tensor):\n"
        "    return torch.linear(torch.gelu(torch.linear(x, self.hidden)), self.head)",
        {{"hidden", parameter({48, 32})}, {"head", parameter({4, 48})}});
  }();
  models::Inputs inputs_;
  Options options_;
};

// A transform without a format is exact but for the order of float32 sums: the curves agree, the
// cosines are 1, and the loss falls in both.
TEST_F(TrainTest, TransformsAloneTrainLikeExact) {
  const Training training = run("had16", "had16");
  ASSERT_EQ(training.pairs.size(), 2U);
  EXPECT_EQ(training.training_batches, 6);
  EXPECT_EQ(training.held_out_batches, 2);
  for (const TrainingPair& pair : training.pairs) {
    ASSERT_EQ(pair.exact.losses.size(), 30U);
    ASSERT_EQ(pair.plan.losses.size(), 30U);
    for (std::size_t i = 0; i < 30; ++i)
      EXPECT_NEAR(pair.exact.losses[i], pair.plan.losses[i], 1e-3);
    EXPECT_LT(pair.plan.losses.back(), 0.8 * pair.plan.losses.front());
    ASSERT_EQ(pair.angles.size(), 5U);
    for (const TrainingAngle& angle : pair.angles) EXPECT_NEAR(angle.cosine, 1, 1e-6);
    EXPECT_TRUE(pair.exact.accuracy && pair.plan.accuracy);
  }
  EXPECT_NE(training.pairs[0].exact.losses, training.pairs[1].exact.losses);
}

TEST_F(TrainTest, CoarseRoundingShowsInCurvesAndAngles) {
  const Training training = run("none+int4/tensor/stochastic", "none+int4/tensor/stochastic");
  const TrainingPair& pair = training.pairs.front();
  EXPECT_EQ(pair.exact.losses.front(), pair.plan.losses.front());
  EXPECT_NE(pair.exact.losses.back(), pair.plan.losses.back());
  for (const TrainingAngle& angle : pair.angles) {
    EXPECT_LT(angle.cosine, 0.9999);
    EXPECT_GT(angle.cosine, 0.5);
  }
  EXPECT_LT(training.total.value("saved_bytes_plan"), training.total.value("saved_bytes_exact"));
}

// Comparing directions along the way must not change where training goes.
TEST_F(TrainTest, CosinesDisturbNothing) {
  const auto watched = run("none+int4/tensor/stochastic", "none+int8/tensor/stochastic");
  options_.angles = 0;
  const auto alone = run("none+int4/tensor/stochastic", "none+int8/tensor/stochastic");
  EXPECT_EQ(watched.pairs[1].plan.losses, alone.pairs[1].plan.losses);
  EXPECT_TRUE(alone.pairs[1].angles.empty());
  EXPECT_EQ(alone.total.find("gradient_cosine"), nullptr);
}

TEST_F(TrainTest, TheModelIsAsBeforeAfterwards) {
  const at::Tensor before = model_.parameters.front().tensor.detach().clone();
  static_cast<void>(run("had16", "none+int8"));
  EXPECT_TRUE(at::equal(before, model_.parameters.front().tensor));
  EXPECT_FALSE(model_.parameters.front().tensor.grad().defined());
}

TEST_F(TrainTest, WhatCantBeComparedIsRefused) {
  EXPECT_THROW(run("exact", "exact"), UsageError);
  options_.hold_out = 1;
  EXPECT_THROW(run("had16", "had16"), UsageError);
}

TEST_F(TrainTest, WithoutDataHeldOutThereIsNoAccuracy) {
  options_.hold_out = 0;
  const Training training = run("had16", "had16");
  EXPECT_FALSE(training.pairs.front().exact.held_out_loss);
  EXPECT_EQ(training.total.find("accuracy_exact"), nullptr);
  ASSERT_FALSE(training.notes.empty());
}

}  // namespace
}  // namespace hot::train
