#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "backward/operands.hpp"
#include "bench/shapes.hpp"

namespace hot::bench {

/// The operands of one layer without a bias, normal values in torch's usual layout.
struct LayerTensors {
  at::Tensor x;       ///< [rows, in] or [batch, in, image, image]; needs a gradient
  at::Tensor weight;  ///< [out, in] or [out, in, kernel, kernel]; needs a gradient
  at::Tensor gy;      ///< gradient of the output
  backward::Window window;
};

[[nodiscard]] LayerTensors make_layer(const LayerShape& shape, std::int64_t batch);

/// The forward product by torch: at::linear or a convolution.
[[nodiscard]] at::Tensor forward_product(const at::Tensor& x, const at::Tensor& weight,
                                         const backward::Window& window);

/// Copies in another type.
[[nodiscard]] LayerTensors converted(const LayerTensors& layer, at::ScalarType type);

}  // namespace hot::bench
