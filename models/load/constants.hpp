#pragma once

#include <torch/script.h>

#include <vector>

#include "models/model.hpp"

namespace hot::models {

/// The tensors that `graph` holds as constants and uses as a layer's weight or bias (frozen
/// models), each once, named by the operation's kind and its number among the operations of that
/// kind, e.g. "conv2d_3.weight". They become float32 leaves that require a gradient, which works as
/// long as the JIT's optimizer is off (torchscript.md, 3.4). Other constants stay as they are.
[[nodiscard]] std::vector<Parameter> trainable_constants(torch::jit::Graph& graph);

}  // namespace hot::models
