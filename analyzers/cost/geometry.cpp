#include "analyzers/cost/geometry.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hot::cost {

std::string Geometry::key() const {
  if (!window.convolution) {
    return fmt::format("linear {} {}", fmt::join(x, "x"), fmt::join(weight, "x"));
  }
  return fmt::format("{} {} {} stride {} padding {} dilation {} out {}",
                     window.transposed ? "transposed" : "conv", fmt::join(x, "x"),
                     fmt::join(weight, "x"), fmt::join(window.stride, ","),
                     fmt::join(window.padding, ","), fmt::join(window.dilation, ","),
                     fmt::join(window.output_padding, ","));
}

Geometry geometry_of(const backward::Operands& o) {
  Geometry geometry{o.window, o.x_sizes, o.weight.sizes().vec()};
  if (!o.window.convolution) {
    const at::Tensor w = backward::weight_matrix(o);
    geometry.weight = w.sizes().vec();
    geometry.x = {o.gy.numel() / w.size(0), w.size(1)};
  }
  return geometry;
}

}  // namespace hot::cost
