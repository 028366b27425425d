#include "analyzers/cost/layer_clock.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "backward/kept_x.hpp"
#include "backward/replaced_functions.hpp"
#include "backward/replaced_layer.hpp"
#include "device/steady.hpp"

namespace hot::cost {
namespace {

/// More than the caches of the cores that run.
constexpr std::int64_t kOtherFloats = 2 << 20;

/// Writes so much other memory that no core's cache holds the operands any more. Free memory isn't
/// given back: a step's backward pass, too, writes where the pass before it freed.
void as_in_a_step() {
  static at::Tensor other = at::zeros({kOtherFloats});
  other.add_(1);
}

/// Median of some runs of `pass`, which returns its ms.
double median_of(const std::function<double()>& pass) {
  (void)pass();
  std::vector<double> all;
  double spent = 0;
  while (static_cast<int>(all.size()) < LayerClock::kRuns ||
         (spent < LayerClock::kPatience && static_cast<int>(all.size()) < LayerClock::kMostRuns)) {
    all.push_back(pass());
    spent += all.back();
  }
  std::sort(all.begin(), all.end());
  const std::size_t middle = all.size() / 2;
  return all.size() % 2 == 1 ? all[middle] : (all[middle - 1] + all[middle]) / 2;
}

/// Sizes of a layer's output.
std::vector<std::int64_t> output_sizes(const Geometry& g) {
  const backward::Window& w = g.window;
  if (!w.convolution) return {g.x[0], g.weight[0]};
  std::vector<std::int64_t> sizes{g.x[0], w.transposed ? g.weight[1] * w.groups : g.weight[0]};
  for (std::size_t d = 0; d < w.kernel.size(); ++d) {
    const std::int64_t reach = w.dilation[d] * (w.kernel[d] - 1);
    sizes.push_back(w.transposed ? (g.x[d + 2] - 1) * w.stride[d] - 2 * w.padding[d] + reach +
                                       w.output_padding[d] + 1
                                 : (g.x[d + 2] + 2 * w.padding[d] - reach - 1) / w.stride[d] + 1);
  }
  return sizes;
}

}  // namespace

LayerClock::LayerClock(const Geometry& geometry, at::Device device)
    : clock_(device::clock_of(device)) {
  operands_.window = geometry.window;
  operands_.kind = geometry.window.convolution ? LayerKind::conv : LayerKind::linear;
  operands_.x = at::randn(geometry.x, at::device(device));
  operands_.x_sizes = geometry.x;
  operands_.weight = at::randn(geometry.weight, at::device(device));
  operands_.gy = at::randn(output_sizes(geometry), at::device(device));
}

double LayerClock::timed(const std::function<double()>& pass) const {
  if (!clock_.is_gpu()) return median_of(pass);
  device::Protocol protocol;
  protocol.seconds = 0.1;
  return 1e3 * device::time_steadily([&] { return 1e-3 * pass(); }, protocol).seconds;
}

double LayerClock::milliseconds_of(const std::function<void()>& work) const {
  if (!clock_.is_gpu()) as_in_a_step();
  clock_.cool();
  device::Span span(clock_);
  work();
  span.end();
  return 1e3 * span.seconds();
}

double LayerClock::exact(Path path) {
  const at::NoGradGuard no_grad;
  const backward::Operands& o = operands_;
  const backward::Window& w = o.window;
  const bool input = path == Path::grad_input;
  return timed([&] {
    return milliseconds_of([&] {
      if (!w.convolution) {
        const at::Tensor gradient = input ? o.gy.mm(o.weight) : o.gy.t().mm(o.x);
        return;
      }
      const auto gradients = at::convolution_backward(
          o.gy, o.x, o.weight, std::nullopt, w.stride, w.padding, w.dilation, w.transposed,
          w.output_padding, w.groups, {input, !input, false});
    });
  });
}

double LayerClock::by_scheme(Path path, const Scheme& scheme) {
  const at::NoGradGuard no_grad;
  const backward::Operands& o = operands_;
  const bool input = path == Path::grad_input;
  backward::ReplacedLayer layer(
      backward::LayerSchemes{input ? scheme : Scheme{}, input ? Scheme{} : scheme}, 1, false);
  const auto ran = [&] {
    const backward::LayerRuns runs = layer.runs();
    return input ? runs.grad_input : runs.grad_weight;
  };
  return timed([&] {
    const std::int64_t before = ran();
    double ms = 0;
    if (input) {
      ms = milliseconds_of(
          [&] { return planned_input_gradient(layer, o, layer.prepare_gy(o, true, false).input); });
    } else {
      torch::autograd::AutogradContext context;
      torch::autograd::variable_list kept;
      ms = milliseconds_of([&] { backward::KeptX::keep(layer, o.x, o, true, &context, kept); });
      ms += milliseconds_of([&] {
        const at::Tensor gw =
            planned_weight_gradient(layer, o, layer.prepare_gy(o, false, true).weight,
                                    backward::KeptX::operand(layer, o, &context, kept, 0));
      });
    }
    if (ran() != before + 1) throw std::logic_error("a scheme has not run");
    return ms;
  });
}

}  // namespace hot::cost
