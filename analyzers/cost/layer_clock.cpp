#include "analyzers/cost/layer_clock.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "backward/replaced_functions.hpp"
#include "backward/replaced_layer.hpp"
#include "device/steady.hpp"

namespace hot::cost {
namespace {

/// ms within which short gradients are run again.
constexpr double kPatience = 10;
constexpr int kMostRuns = 30;

at::Tensor leaf(const at::Tensor& t, bool needed) {
  return t.detach().set_requires_grad(needed);
}

/// Least of some runs of `pass`, which returns its ms.
double least(const std::function<double()>& pass) {
  (void)pass();
  double result = pass();
  double spent = result;
  for (int run = 1; run < LayerClock::kRuns || (spent < kPatience && run < kMostRuns); ++run) {
    const double ms = pass();
    result = std::min(result, ms);
    spent += ms;
  }
  return result;
}

}  // namespace

LayerClock::LayerClock(const Geometry& geometry, at::Device device)
    : geometry_(geometry),
      clock_(device::clock_of(device)),
      x_(at::randn(geometry.x, at::device(device))),
      weight_(at::randn(geometry.weight, at::device(device))),
      gy_(at::randn_like(exact_output(x_, weight_))) {}

double LayerClock::timed(const std::function<double()>& pass) const {
  if (!clock_.is_gpu()) return least(pass);
  device::Protocol protocol;
  protocol.seconds = 0.1;
  return 1e3 * device::time_steadily([&] { return 1e-3 * pass(); }, protocol).seconds;
}

double LayerClock::milliseconds_of(const std::function<void()>& work) const {
  clock_.cool();
  device::Span span(clock_);
  work();
  span.end();
  return 1e3 * span.seconds();
}

at::Tensor LayerClock::exact_output(const at::Tensor& x, const at::Tensor& weight) const {
  const backward::Window& w = geometry_.window;
  if (!w.convolution) return at::linear(x, weight);
  return at::convolution(x, weight, {}, w.stride, w.padding, w.dilation, w.transposed,
                         w.output_padding, w.groups);
}

double LayerClock::exact(Path path) {
  const at::AutoGradMode with_gradients(true);
  const bool input = path == Path::grad_input;
  return timed([&] {
    const at::Tensor x = leaf(x_, input);
    const at::Tensor weight = leaf(weight_, !input);
    const at::Tensor y = exact_output(x, weight);
    return milliseconds_of([&] { (void)torch::autograd::grad({y}, {input ? x : weight}, {gy_}); });
  });
}

double LayerClock::by_scheme(Path path, const Scheme& scheme) {
  const at::AutoGradMode with_gradients(true);
  const bool input = path == Path::grad_input;
  const auto layer = std::make_shared<backward::ReplacedLayer>(
      backward::LayerSchemes{input ? scheme : Scheme{}, input ? Scheme{} : scheme}, 1, false);
  return timed([&] {
    const auto before = layer->runs();
    const at::Tensor x = leaf(x_, input);
    const at::Tensor weight = leaf(weight_, !input);
    const at::Tensor y =
        geometry_.window.convolution
            ? backward::replaced_convolution(layer, x, weight, {}, geometry_.window)
            : backward::replaced_matmul(layer, {}, x, weight.t());
    const double ms =
        milliseconds_of([&] { (void)torch::autograd::grad({y}, {input ? x : weight}, {gy_}); });
    const auto after = layer->runs();
    if ((input ? after.grad_input - before.grad_input : after.grad_weight - before.grad_weight) !=
        1)
      throw std::logic_error("a scheme has not run");
    return ms + 1e3 * (after.forward_seconds - before.forward_seconds);
  });
}

}  // namespace hot::cost
