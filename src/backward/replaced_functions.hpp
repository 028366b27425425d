#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backward/replaced_layer.hpp"

namespace hot::backward {

/// y = [bias +] a·b with `layer`'s backward: a [L×I], b [I×O] (the layer's weight, or a view of
/// it); bias may be undefined.
[[nodiscard]] at::Tensor replaced_matmul(const std::shared_ptr<ReplacedLayer>& layer,
                                         const at::Tensor& bias, const at::Tensor& a,
                                         const at::Tensor& b);

/// A convolution (groups = 1) with `layer`'s backward; bias may be undefined.
[[nodiscard]] at::Tensor replaced_convolution(const std::shared_ptr<ReplacedLayer>& layer,
                                              const at::Tensor& x, const at::Tensor& weight,
                                              const at::Tensor& bias, const Window& window);

}  // namespace hot::backward
