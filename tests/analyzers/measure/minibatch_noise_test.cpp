#include "analyzers/measure/minibatch_noise.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/backward/small_models.hpp"

namespace hot::measure {
namespace {

std::vector<at::Tensor> constant(const models::Model& model, float value) {
  std::vector<at::Tensor> gradients;
  for (const auto& p : model.parameters)
    gradients.push_back(at::full(p.tensor.sizes(), value, at::kFloat));
  return gradients;
}

// Gradients 1 and 3: mean 2, Σ‖g − ḡ‖²/(2 − 1) = 2n, so σ = √2/2 whatever the sizes.
TEST(MinibatchNoiseTest, OfTwoBatches) {
  const models::Model model = backward::testing::mixed_model();
  MinibatchNoise noise(model);
  noise.add(constant(model, 1));
  noise.add(constant(model, 3));
  ErrorTable table;
  table.facts.push_back({"head", {}});
  ErrorRow row{"head", Path::grad_weight, parse_scheme("none+int8"), Execution::native, {}};
  row.metrics.set("relative_error", 0.1, Origin::measured);
  table.rows.push_back(row);
  noise.write(table);
  EXPECT_NEAR(table.whole.value("minibatch_noise"), std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(table.facts[0].metrics.value("layer_noise"), std::sqrt(0.5), 1e-6);
  EXPECT_NEAR(table.rows[0].metrics.value("noise_ratio"), 0.1 / std::sqrt(0.5), 1e-6);
}

TEST(MinibatchNoiseTest, OneBatchKnowsNothing) {
  const models::Model model = backward::testing::mixed_model();
  MinibatchNoise noise(model);
  noise.add(constant(model, 1));
  ErrorTable table;
  noise.write(table);
  EXPECT_EQ(table.whole.find("minibatch_noise"), nullptr);
}

}  // namespace
}  // namespace hot::measure
