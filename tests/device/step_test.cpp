// Whole steps with planned layers on a simulated device, against the CPU's to the bit: linear
// layers, convolutions that overlap, that don't, and transposed ones.
#include <gtest/gtest.h>

#include "backward/folded_product.hpp"
#include "backward/replace.hpp"
#include "kernels/backward.hpp"
#include "tests/backward/small_models.hpp"
#include "tests/device/sim_backend.hpp"

namespace hot::backward {
namespace {

const std::vector<std::string> kLayers = {"stem", "pointwise", "up", "plain", "first", "head"};

struct Outcome {
  std::vector<at::Tensor> gradients;
  std::map<std::string, LayerRuns> runs;
};

Outcome step(const std::string& input, const std::string& weight) {
  const models::Model model = testing::mixed_model();
  const models::Inputs inputs = testing::mixed_inputs();
  const models::Loss loss = testing::output_loss(model, inputs);
  std::map<std::string, LayerSchemes> layers;
  for (const auto& name : kLayers) layers[name] = {parse_scheme(input), parse_scheme(weight)};
  const Replacement replacement(model, layers, 3, true);
  Outcome outcome;
  outcome.gradients = models::run_step(model, inputs.batches.front(), loss, 5).gradients;
  outcome.runs = replacement.runs();
  return outcome;
}

TEST(DeviceStep, PlannedGradientsAreTheCpusToTheBit) {
  for (const auto& [input, weight] : {std::pair{"none+int8/row", "had16+int8/tensor"},
                                      {"had16+int4/tensor/stochastic", "none+int8/tensor"},
                                      {"none+int4/tensor", "low16r8+int8/tensor"},
                                      {"exact", "none+int4/tensor"}}) {
    const Outcome cpu = step(input, weight);
    Outcome device;
    {
      const kernels::SimBackend backend;
      device = step(input, weight);
      EXPECT_GT(backend.products_run, 0);
      for (at::Tensor& g : device.gradients)
        if (g.defined()) g = g.clone();
    }
    ASSERT_EQ(cpu.gradients.size(), device.gradients.size());
    for (std::size_t i = 0; i < cpu.gradients.size(); ++i) {
      ASSERT_EQ(cpu.gradients[i].defined(), device.gradients[i].defined());
      if (!cpu.gradients[i].defined()) continue;
      EXPECT_TRUE(at::equal(cpu.gradients[i], device.gradients[i]))
          << input << " " << weight << " parameter " << i << " off by "
          << (cpu.gradients[i] - device.gradients[i]).abs().max().item<double>();
    }
    for (const auto& [layer, runs] : device.runs) {
      EXPECT_EQ(runs.grad_input, cpu.runs.at(layer).grad_input) << layer;
      EXPECT_EQ(runs.grad_weight, cpu.runs.at(layer).grad_weight) << layer;
      EXPECT_LT(runs.kernel_deviation, 1e-5) << layer;
    }
  }
}

// Products and unfolded convolutions that don't fit are made in pieces of rows and samples: the
// step goes on, with the same gradients.
TEST(DeviceStep, OutOfMemoryTheStepIsMadeInPiecesWithTheSameGradients) {
  const Outcome cpu = step("none+int8/tensor", "none+int8/tensor");
  kernels::SimBackend backend;
  backend.most_rows = 300;  // of 576 rows of the linear layers and the transposed convolution
  Outcome device = step("none+int8/tensor", "none+int8/tensor");
  EXPECT_GT(backend.refused, 0);
  for (std::size_t i = 0; i < cpu.gradients.size(); ++i) {
    if (!cpu.gradients[i].defined()) continue;
    EXPECT_TRUE(at::equal(cpu.gradients[i], device.gradients[i])) << i;
  }
}

// grad_input of a convolution that overlaps: by halves of the samples, with one scale (sums stay
// integers) and with one for each row.
TEST(DeviceStep, OutOfMemoryAConvolutionIsFoldedInPiecesOfSamples) {
  Window window;
  window.convolution = true;
  window.kernel = {3, 3};
  window.stride = window.dilation = window.padding = {1, 1};
  const WindowRuns runs(window, {6, 6}, {6, 6});
  at::manual_seed(3);
  const at::Tensor gy = at::randn({5 * 36, 8});
  const at::Tensor w = at::randn({8, 9 * 4});
  for (const char* text : {"none+int8/tensor", "had8+int4/row/stochastic", "none+fp8e4m3/row"}) {
    const Scheme scheme = parse_scheme(text);
    const auto gradient = [&](const at::Tensor& gradient_of_output, const at::Tensor& weight) {
      return folded_product(kernels::prepare_gy(gradient_of_output, Path::grad_input, scheme, 9),
                            kernels::prepare_w(weight, scheme), runs);
    };
    const at::Tensor expected = gradient(gy, w);
    kernels::SimBackend backend;
    backend.has_fp8 = true;
    backend.most_rows = 112;  // three samples' 108 rows
    const at::Tensor product = gradient(gy.clone(), w.clone());
    EXPECT_GT(backend.refused, 0) << text;
    EXPECT_TRUE(is_fp8(scheme.format) ? at::allclose(product, expected, 1e-4, 1e-4)
                                      : at::equal(product, expected))
        << text;
    backend.most_rows = 32;  // not one sample
    EXPECT_THROW((void)gradient(gy.clone(), w.clone()), c10::OutOfMemoryError) << text;
  }
}

// FP8 in every layer: by the device's tensor cores, or simulated there, near the CPU's simulation.
TEST(DeviceStep, Fp8RunsInEveryKindOfLayer) {
  const Outcome cpu = step("had16+fp8e5m2:fp8e4m3/row", "none+fp8e4m3/column");
  for (const bool native : {true, false}) {
    kernels::SimBackend backend;
    backend.has_fp8 = native;
    Outcome device = step("had16+fp8e5m2:fp8e4m3/row", "none+fp8e4m3/column");
    EXPECT_EQ(backend.fp8_products_run > 0, native);
    for (std::size_t i = 0; i < cpu.gradients.size(); ++i) {
      if (!cpu.gradients[i].defined()) continue;
      const double largest = cpu.gradients[i].abs().max().item<double>();
      // A sum's last bit can move a value of the next layer to the neighbouring FP8 number.
      EXPECT_TRUE(at::allclose(cpu.gradients[i], device.gradients[i], 0, 0.02 * largest)) << i;
    }
    for (const auto& [layer, runs] : device.runs) {
      EXPECT_EQ(runs.grad_input, cpu.runs.at(layer).grad_input) << layer;
      EXPECT_EQ(runs.grad_weight, cpu.runs.at(layer).grad_weight) << layer;
      EXPECT_LT(runs.kernel_deviation, 1e-5) << layer;
    }
  }
}

}  // namespace
}  // namespace hot::backward
