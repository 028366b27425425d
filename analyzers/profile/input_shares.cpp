#include <ATen/ATen.h>

#include <array>

#include "analyzers/profile/time_parts.hpp"
#include "backward/observe.hpp"

namespace hot::profile {
namespace {

/// Seconds of torch's own backward of a convolution with these gradients alone; the second of two.
double alone(const backward::Operands& o, std::array<bool, 3> mask) {
  double seconds = 0;
  for (int i = 0; i < 2; ++i) {
    device::Span span(device::clock_of(o.gy.device()));
    const auto gradients = at::convolution_backward(
        o.gy, o.x, o.weight, std::nullopt, o.window.stride, o.window.padding, o.window.dilation,
        o.window.transposed, o.window.output_padding, o.window.groups, mask);
    span.end();
    seconds = span.seconds();
  }
  return seconds;
}

}  // namespace

InputShares measure_input_shares(const verify::StepSetting& setting) {
  std::map<std::string, std::pair<double, double>> seconds;
  backward::Observation observation(setting.model, [&](const backward::Operands& o) {
    if (!o.window.convolution || !o.need_grad_input || !o.need_grad_weight || !o.x.defined())
      return;
    auto& [input, weight] = seconds[o.layer];
    input += alone(o, {true, false, false});
    weight += alone(o, {false, true, false});
  });
  const auto step = models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
  observation.rethrow();
  InputShares shares;
  for (const auto& [layer, s] : seconds) {
    if (s.first + s.second > 0) shares[layer] = s.first / (s.first + s.second);
  }
  return shares;
}

}  // namespace hot::profile
