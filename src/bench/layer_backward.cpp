#include "bench/layer_backward.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "backward/replaced_functions.hpp"
#include "bench/presets.hpp"
#include "bench/stopwatch.hpp"
#include "core/scheme.hpp"

namespace hot::bench {
namespace {

/// Seconds of the backward pass alone; both gradients must really come out of it.
double backward_seconds(const at::Tensor& y, const LayerTensors& layer) {
  const Stopwatch watch;
  const auto gradients = torch::autograd::grad({y}, {layer.x, layer.weight}, {layer.gy});
  const double seconds = watch.seconds();
  if (gradients.size() != 2 || gradients[0].sizes() != layer.x.sizes() ||
      gradients[1].sizes() != layer.weight.sizes())
    throw std::logic_error("a backward pass has left a gradient out");
  return seconds;
}

Times exact_times(const LayerTensors& layer) {
  return {backward_seconds(forward_product(layer.x, layer.weight, layer.window), layer), {}};
}

Times replaced_times(const std::shared_ptr<backward::ReplacedLayer>& replaced,
                     const LayerTensors& layer) {
  const auto before = replaced->runs();
  const auto y =
      layer.window.convolution
          ? backward::replaced_convolution(replaced, layer.x, layer.weight, {}, layer.window)
          : backward::replaced_matmul(replaced, {}, layer.x, layer.weight.t());
  const double seconds = backward_seconds(y, layer);
  const auto after = replaced->runs();
  if (after.grad_input != before.grad_input + 1 || after.grad_weight != before.grad_weight + 1)
    throw std::logic_error("a scheme has not run");
  return {seconds + after.forward_seconds - before.forward_seconds, {}};
}

}  // namespace

std::vector<Contender> layer_backward(const LayerTensors& layer) {
  const auto half = converted(layer, at::kBFloat16);
  std::vector<Contender> contenders = {{"fp32", [layer] { return exact_times(layer); }},
                                       {"bf16", [half] { return exact_times(half); }}};
  for (const auto& preset : kPresets) {
    const auto replaced = std::make_shared<backward::ReplacedLayer>(
        backward::LayerSchemes{parse_scheme(preset.grad_input), parse_scheme(preset.grad_weight)},
        1, false);
    contenders.push_back(
        {preset.name, [replaced, layer] { return replaced_times(replaced, layer); }});
  }
  return contenders;
}

}  // namespace hot::bench
