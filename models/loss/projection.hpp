#pragma once

#include <torch/script.h>

#include <cstdint>
#include <vector>

namespace hot::models {

/// The outputs that a gradient can flow from: floating or complex tensors with elements, at any
/// depth, in order.
[[nodiscard]] std::vector<at::Tensor> differentiable_outputs(const c10::IValue& output);

/// Σ over the outputs of Σ out·R/√n, n the output's number of elements and R ~ N(0,1) fixed by
/// `seed` and the output's place. Of a single number it is the number itself: such a model returns
/// its own loss.
[[nodiscard]] at::Tensor projection_loss(const std::vector<at::Tensor>& outputs,
                                         std::uint64_t seed);

}  // namespace hot::models
