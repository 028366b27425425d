#include "analyzers/cost/step_facts.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "analyzers/cost/perturbed.hpp"
#include "analyzers/measure/measure.hpp"
#include "analyzers/trace/trace.hpp"
#include "analyzers/verify/step_run.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::cost {
namespace {

using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;

class StepFactsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    StepFacts facts(model, trace, {int8}, 0);
    table = measure::measure(
        model, inputs, loss, trace, {.schemes = {int8}}, nullptr,
        {[&] { facts.between(); }, [&](const backward::Operands& o) { facts.add(o); },
         [&](const models::StepResult& step) { facts.end(step); }});
    geometries = facts.finish(inputs.batches.front(), loss, 0, table);
  }

  Scheme int8 = parse_scheme("none+int8/tensor");
  models::Model model = mixed_model();
  models::Inputs inputs = mixed_inputs();
  models::Loss loss = output_loss(model, inputs);
  Trace trace = trace::trace(model, inputs, loss, 0, nullptr);
  ErrorTable table;
  Geometries geometries;
};

// Every eligible layer has the shape of each of its calls, and its share; the shares of all weights
// are no more than the whole gradient.
TEST_F(StepFactsTest, SharesAndShapesOfEveryEligibleLayer) {
  double sum = 0;
  for (const LayerTrace& layer : trace.layers) {
    if (!layer.eligible) continue;
    EXPECT_EQ(geometries.at(layer.name).size(), static_cast<std::size_t>(layer.calls));
    sum += table.fact(layer.name, "weight_share")->value;
    if (layer.path(Path::grad_input).calls > 0) {
      EXPECT_GT(table.fact(layer.name, "input_share")->value, 0) << layer.name;
    }
  }
  EXPECT_GT(sum, 0.1);
  EXPECT_LE(sum, 1 + 1e-6);
}

// What is predicted to be kept is what a step with the scheme in every layer really keeps.
TEST_F(StepFactsTest, KeptBytesAreThoseOfARealStep) {
  verify::Replaced all;
  double predicted = static_cast<double>(trace.saved_bytes);
  for (const LayerTrace& layer : trace.layers) {
    if (!layer.eligible) continue;
    all[layer.name] = {Scheme{}, int8};
    const ErrorRow* row = table.find(layer.name, Path::grad_weight, int8);
    if (row != nullptr) predicted += row->metrics.value("kept_bytes");
  }
  for (const KeptActivation& a : table.activations) {
    bool goes = !a.held_by_others;
    for (const std::string& layer : a.layers) {
      const ErrorRow* row = table.find(layer, Path::grad_weight, int8);
      goes = goes && row != nullptr && row->metrics.value("kept_bytes") > 0;
    }
    if (goes) predicted -= static_cast<double>(a.bytes);
  }
  const verify::StepSetting setting{model, inputs.batches.front(), loss, 0};
  EXPECT_EQ(static_cast<double>(verify::counted_step(setting, all, false).saved_bytes), predicted);
}

TEST_F(StepFactsTest, PerturbingPutsEveryBitBack) {
  std::vector<at::Tensor> before;
  for (const auto& p : model.parameters) before.push_back(p.tensor.detach().clone());
  {
    const Perturbed perturbed(model, 3);
    EXPECT_GT(perturbed.size(), 0);
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto change = (model.parameters[i].tensor.detach() - before[i]).abs();
      EXPECT_NEAR(change.max().item<double>(), perturbed.size(), 1e-6);
      EXPECT_NEAR(change.min().item<double>(), perturbed.size(), 1e-6);
    }
  }
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_TRUE(model.parameters[i].tensor.detach().equal(before[i]));
}

}  // namespace
}  // namespace hot::cost
