#include "backward/operands.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "backward/pixel_rows.hpp"
#include "backward/unfold.hpp"

namespace hot::backward {
namespace {

at::IntArrayRef spatial(at::IntArrayRef sizes) {
  return sizes.slice(2);
}

bool all_equal(const std::vector<std::int64_t>& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [value](auto v) { return v == value; });
}

}  // namespace

bool Window::trivial() const {
  return !convolution || (all_equal(kernel, 1) && all_equal(stride, 1) && all_equal(padding, 0) &&
                          all_equal(output_padding, 0));
}

std::vector<std::int64_t> Window::positions(at::IntArrayRef image) const {
  std::vector<std::int64_t> result;
  for (std::size_t d = 0; d < kernel.size(); ++d) {
    result.push_back((image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] +
                     1);
  }
  return result;
}

at::Tensor gy_matrix(const Operands& o) {
  if (!o.window.convolution) return o.gy.reshape({-1, o.gy.size(-1)});
  if (o.window.trivial() || !o.window.transposed) return pixel_rows(o.gy);
  return unfold(o.gy, o.window, spatial(o.x_sizes));
}

at::Tensor weight_matrix(const Operands& o) {
  if (!o.window.convolution) return o.weight_transposed ? o.weight.t() : o.weight;
  const auto rows = o.weight.reshape({o.weight.size(0), -1});
  return o.window.transposed ? rows.t() : rows;
}

at::Tensor x_matrix(const Operands& o) {
  if (!o.window.convolution) return o.x.reshape({-1, o.x.size(-1)});
  if (o.window.trivial() || o.window.transposed) return pixel_rows(o.x);
  return unfold(o.x, o.window, spatial(o.gy.sizes()));
}

at::Tensor grad_input_from_matrix(const Operands& o, const at::Tensor& gx) {
  if (!o.window.convolution) return gx.reshape(o.x_sizes);
  if (o.window.trivial() || o.window.transposed) return image_of_pixel_rows(gx, o.x_sizes);
  return fold(gx, o.window, o.x_sizes, spatial(o.gy.sizes()));
}

at::Tensor grad_weight_from_matrix(const Operands& o, const at::Tensor& gw) {
  if (!o.window.convolution) return o.weight_transposed ? gw.t() : gw;
  return (o.window.transposed ? gw.t() : gw).reshape(o.weight.sizes());
}

}  // namespace hot::backward
