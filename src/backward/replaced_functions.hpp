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

/// What backward computes by the layer's schemes, from gy prepared for the path
/// (ReplacedLayer::prepare_gy of gy_matrix(o)): the gradient of the input, in the input's sizes.
[[nodiscard]] at::Tensor planned_input_gradient(ReplacedLayer& layer, const Operands& o,
                                                const kernels::Operand& gy);

/// The same of the weight, from x as forward kept it (KeptX).
[[nodiscard]] at::Tensor planned_weight_gradient(ReplacedLayer& layer, const Operands& o,
                                                 const kernels::Operand& gy,
                                                 const kernels::Operand& x);

}  // namespace hot::backward
