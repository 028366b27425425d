#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/models/model_files.hpp"

namespace hot::models {
namespace {

class FreshCopy : public ModelFiles {};

at::Tensor step(torch::jit::Module& copy, const at::Tensor& input) {
  const at::Tensor output = copy.forward({input}).toTensor();
  output.square().sum().backward();
  return output;
}

TEST_F(FreshCopy, SharesParametersAndOwnsBuffers) {
  const Model model = load("scripted");
  const torch::jit::Module copy = fresh_copy(model);
  for (const auto& parameter : copy.named_parameters()) {
    EXPECT_TRUE(
        parameter.value.is_same(model.module.attr("conv").toModule().attr("weight").toTensor()) ||
        parameter.name != "conv.weight");
    const bool shared =
        std::any_of(model.parameters.begin(), model.parameters.end(),
                    [&](const Parameter& own) { return own.tensor.is_same(parameter.value); });
    EXPECT_TRUE(shared) << parameter.name;
  }
  auto original = model.module.named_buffers();
  auto place = original.begin();
  for (const auto& buffer : copy.named_buffers()) {
    EXPECT_EQ(buffer.name, (*place).name);
    EXPECT_FALSE(buffer.value.is_alias_of((*place).value)) << buffer.name;
    EXPECT_TRUE(at::equal(buffer.value, (*place).value)) << buffer.name;
    ++place;
  }
}

TEST_F(FreshCopy, TrainsWhileTheModelKeepsItsStatistics) {
  const Model model = load("scripted");
  EXPECT_TRUE(model.module.is_training());
  for (int i = 0; i < 2; ++i) {
    torch::jit::Module copy = fresh_copy(model);
    EXPECT_TRUE(copy.is_training());
    step(copy, at::rand({2, 3, 8, 8}));
    EXPECT_EQ(copy.attr("runs").toTensor().item<int>(), 1);
    EXPECT_FALSE(
        at::equal(copy.attr("bn").toModule().attr("running_mean").toTensor(), at::zeros({4})));
  }
  EXPECT_EQ(model.module.attr("runs").toTensor().item<int>(), 0);
  EXPECT_TRUE(at::equal(model.module.attr("bn").toModule().attr("running_mean").toTensor(),
                        at::zeros({4})));
  for (const Parameter& parameter : model.parameters)
    EXPECT_TRUE(parameter.tensor.grad().defined()) << parameter.names[0];
}

/// The mode is the copy's own: the model itself stays as it was saved.
TEST_F(FreshCopy, SetsTrainingModeInEveryModule) {
  Model model = load("scripted");
  model.module.eval();
  const torch::jit::Module copy = fresh_copy(model);
  for (const auto& module : copy.named_modules())
    EXPECT_TRUE(module.value.is_training()) << module.name;
  EXPECT_FALSE(model.module.is_training());
}

/// A module that keeps a tensor with its graph fails in the second backward pass unless each run
/// has a copy.
TEST_F(FreshCopy, StartsEveryRunFromTheSavedState) {
  const Model model = load("stateful");
  at::Tensor first;
  for (int i = 0; i < 3; ++i) {
    torch::jit::Module copy = fresh_copy(model);
    const at::Tensor output = step(copy, at::ones({2, 4}));
    if (i == 0) first = output.detach().clone();
    EXPECT_TRUE(at::equal(output, first)) << "run " << i;
    EXPECT_EQ(copy.attr("seen").toTensorVector().size(), 2);
  }
  EXPECT_TRUE(at::equal(model.module.attr("last").toTensor(), at::zeros({2, 4})));
  EXPECT_EQ(model.module.attr("seen").toTensorVector().size(), 1);
}

TEST_F(FreshCopy, KeepsTiedWeightsTied) {
  const Model model = load("tied");
  const torch::jit::Module copy = fresh_copy(model);
  const at::Tensor embedding = copy.attr("embedding").toModule().attr("weight").toTensor();
  EXPECT_TRUE(embedding.is_same(copy.attr("head").toModule().attr("weight").toTensor()));
  EXPECT_TRUE(embedding.is_same(model.parameters[0].tensor));
}

}  // namespace
}  // namespace hot::models
