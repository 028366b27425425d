#include "bench/layer_parts.hpp"

#include <ATen/ATen.h>

#include <array>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backward/image_gradient.hpp"
#include "backward/pixel_rows.hpp"
#include "backward/unfolded_rows.hpp"
#include "bench/gemm_watch.hpp"
#include "bench/stopwatch.hpp"
#include "core/scheme.hpp"
#include "kernels/backward.hpp"

namespace hot::bench {
namespace {

using backward::WindowRuns;
using kernels::Operand;

/// The layer's tensors without their gradients, and where its window reads.
struct Layer {
  at::Tensor x, weight, gy;
  backward::Window window;
  std::shared_ptr<const WindowRuns> runs;  ///< null where nothing is unfolded
};

/// One pass; every step adds its time to a part.
class Steps {
 public:
  Steps(const Layer& layer, const Scheme& grad_input, const Scheme& grad_weight)
      : layer_(layer), grad_input_(grad_input), grad_weight_(grad_weight) {}

  /// The steps of ReplacedLayer and the functions around it, in their order.
  Times run() {
    const bool early =
        !layer_.runs || backward::quantizes_before_unfolding(grad_weight_, *layer_.runs);
    Operand x;
    if (early) x = prepared_pixels();
    (void)forward_product(layer_.x, layer_.weight, layer_.window);
    const auto operands = prepared_gy();
    gradient_of_input(operands.front());
    x = early ? unfolded(x) : prepared_unfolded();
    gradient_of_weight(operands.back(), x);
    Times times{0, parts_};
    for (const auto& [part, seconds] : parts_) times.seconds += seconds;
    return times;
  }

 private:
  template <class Step>
  auto timed(const char* part, const Step& step) {
    const Stopwatch watch;
    auto result = step();
    parts_[part] += watch.seconds();
    return result;
  }

  template <class Product>
  at::Tensor timed_product(const Product& product) {
    const GemmWatch gemm;
    const Stopwatch watch;
    auto result = product();
    const double seconds = watch.seconds();
    if (!gemm.saw_any()) throw std::logic_error("a product ran by an operation that isn't watched");
    parts_["gemm"] += gemm.seconds();
    parts_["dequantize"] += seconds - gemm.seconds();
    return result;
  }

  /// A matrix with the channels of an image last.
  at::Tensor rows(const at::Tensor& t) {
    if (!layer_.window.convolution) return t;
    return timed("layout", [&] { return backward::pixel_rows(t); });
  }

  void image(const at::Tensor& matrix, const at::Tensor& like) {
    if (!layer_.window.convolution) return;
    (void)timed("layout", [&] {
      return backward::image_of_pixel_rows(matrix.view({-1, like.size(1)}), like.sizes());
    });
  }

  void gradient_of_input(const Operand& a) {
    const auto& s = grad_input_;
    const auto w = rows(layer_.weight).view({layer_.weight.size(0), -1});
    const auto b = timed("weight", [&] { return kernels::prepare_w(w, s); });
    (void)timed_product([&] {
      return layer_.window.convolution
                 ? backward::image_gradient(a, b, layer_.window, layer_.runs.get(),
                                            layer_.x.sizes())
                 : kernels::multiply(a, b);
    });
  }

  void gradient_of_weight(const Operand& a, const Operand& x) {
    image(timed_product([&] { return kernels::multiply(a, x); }), layer_.weight);
  }

  std::vector<Operand> prepared_gy() {
    const std::array recipes = {kernels::gy_recipe(Path::grad_input, grad_input_, 1),
                                kernels::gy_recipe(Path::grad_weight, grad_weight_, 2)};
    return timed("gy", [&] {
      return layer_.window.convolution ? backward::prepare_pixel_rows(layer_.gy, recipes)
                                       : kernels::prepare_all(layer_.gy, recipes);
    });
  }

  Operand prepared_pixels() {
    return timed("x", [&] {
      if (!layer_.window.convolution) return kernels::prepare_x(layer_.x, grad_weight_);
      return layer_.runs ? backward::prepare_pixels(layer_.x, grad_weight_)
                         : backward::prepare_pixel_x(layer_.x, grad_weight_);
    });
  }

  Operand unfolded(Operand x) {
    if (!layer_.runs) return x;
    x.values = timed("x", [&] { return backward::unfold_levels(x.values, *layer_.runs); });
    return x;
  }

  Operand prepared_unfolded() {
    return timed("x",
                 [&] { return backward::prepare_unfolded(layer_.x, *layer_.runs, grad_weight_); });
  }

  const Layer& layer_;
  const Scheme& grad_input_;
  const Scheme& grad_weight_;
  std::map<std::string, double> parts_;
};

}  // namespace

Contender layer_parts(const LayerTensors& layer, const Preset& preset) {
  Layer plain{layer.x.detach(), layer.weight.detach(), layer.gy, layer.window, nullptr};
  if (layer.window.convolution && !layer.window.trivial()) {
    const auto image = layer.x.sizes().slice(2);
    plain.runs = std::make_shared<const WindowRuns>(layer.window, image, layer.gy.sizes().slice(2));
  }
  const auto grad_input = parse_scheme(preset.grad_input);
  const auto grad_weight = parse_scheme(preset.grad_weight);
  return {std::string(preset.name) + " parts",
          [=] { return Steps(plain, grad_input, grad_weight).run(); }};
}

}  // namespace hot::bench
