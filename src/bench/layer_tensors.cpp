#include "bench/layer_tensors.hpp"

#include <ATen/ATen.h>

namespace hot::bench {
namespace {

backward::Window window_of(const LayerShape& shape) {
  backward::Window window;
  window.convolution = true;
  window.kernel = {shape.kernel, shape.kernel};
  window.stride = {shape.stride, shape.stride};
  window.padding = {shape.padding(), shape.padding()};
  window.dilation = {1, 1};
  window.output_padding = {0, 0};
  return window;
}

}  // namespace

LayerTensors make_layer(const LayerShape& shape, std::int64_t batch) {
  LayerTensors layer;
  if (shape.convolution()) {
    layer.x = at::randn({batch, shape.in, shape.image, shape.image});
    layer.weight = at::randn({shape.out, shape.in, shape.kernel, shape.kernel});
    layer.gy = at::randn({batch, shape.out, shape.out_image(), shape.out_image()});
    layer.window = window_of(shape);
  } else {
    layer.x = at::randn({batch * shape.rows, shape.in});
    layer.weight = at::randn({shape.out, shape.in});
    layer.gy = at::randn({batch * shape.rows, shape.out});
  }
  layer.x.set_requires_grad(true);
  layer.weight.set_requires_grad(true);
  return layer;
}

at::Tensor forward_product(const at::Tensor& x, const at::Tensor& weight,
                           const backward::Window& window) {
  if (!window.convolution) return at::linear(x, weight);
  return at::conv2d(x, weight, {}, window.stride, window.padding, window.dilation, window.groups);
}

LayerTensors converted(const LayerTensors& layer, at::ScalarType type) {
  const auto leaf = [type](const at::Tensor& t) {
    return t.detach().to(type).set_requires_grad(true);
  };
  return {leaf(layer.x), leaf(layer.weight), layer.gy.to(type), layer.window};
}

}  // namespace hot::bench
