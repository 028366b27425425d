#include "tests/analyzers/measure/synthetic.hpp"

#include <ATen/ATen.h>

namespace hot::measure {

backward::Window window(std::vector<std::int64_t> kernel, std::int64_t stride, std::int64_t padding,
                        std::int64_t dilation, bool transposed) {
  const auto dims = kernel.size();
  backward::Window w;
  w.convolution = true;
  w.transposed = transposed;
  w.kernel = std::move(kernel);
  w.stride.assign(dims, stride);
  w.padding.assign(dims, padding);
  w.dilation.assign(dims, dilation);
  w.output_padding.assign(dims, 0);
  return w;
}

backward::Operands synthetic(const Synthetic& layer, std::int64_t seed) {
  at::manual_seed(static_cast<std::uint64_t>(seed));
  backward::Operands o;
  o.layer = "layer";
  o.kind = layer.window.convolution ? LayerKind::conv : LayerKind::linear;
  o.window = layer.window;
  o.x = at::randn(layer.x);
  o.weight = at::randn(layer.weight);
  o.x_sizes = layer.x;
  const auto& w = layer.window;
  const at::Tensor y = w.convolution
                           ? at::convolution(o.x, o.weight, {}, w.stride, w.padding, w.dilation,
                                             w.transposed, w.output_padding, 1)
                           : at::linear(o.x, o.weight);
  std::vector<std::int64_t> tokens = y.sizes().vec();
  tokens[w.convolution ? 1 : tokens.size() - 1] = 1;
  o.gy = at::randn(y.sizes()) * at::exp(0.5 * at::randn(tokens));
  o.need_grad_input = true;
  o.need_grad_weight = true;
  return o;
}

const std::vector<Synthetic>& synthetic_layers() {
  static const std::vector<Synthetic> layers = {
      {"linear", {2, 37, 24}, {20, 24}, {}},
      {"conv3x3", {2, 5, 9, 8}, {6, 5, 3, 3}, window({3, 3}, 1, 1, 1), true},
      {"conv1x1", {2, 5, 6, 7}, {9, 5, 1, 1}, window({1, 1}, 1, 0, 1)},
      {"strided", {2, 5, 9, 8}, {6, 5, 3, 3}, window({3, 3}, 2, 1, 1), true},
      {"dilated", {2, 4, 11, 10}, {6, 4, 3, 3}, window({3, 3}, 1, 2, 2), true},
      {"patches", {2, 3, 12, 8}, {10, 3, 4, 4}, window({4, 4}, 4, 0, 1)},
      {"conv1d", {3, 6, 20}, {7, 6, 5}, window({5}, 1, 2, 1), true},
      {"conv3d", {1, 3, 5, 6, 4}, {4, 3, 2, 3, 1}, window({2, 3, 1}, 1, 0, 1), true},
      {"transposed", {2, 6, 5, 4}, {6, 5, 3, 3}, window({3, 3}, 2, 1, 1, true)},
  };
  return layers;
}

}  // namespace hot::measure
