#pragma once

#include <torch/script.h>

#include <functional>
#include <optional>

#include "models/inputs/graph_values.hpp"
#include "models/inputs/input_pattern.hpp"

namespace hot::models {

/// From the sizes that an operation's output must have to those that its input must have; nullopt
/// where that can't be.
using Undo = std::function<std::optional<Shape>(Shape)>;

/// How `node` carries its input number `index` to its first output; an empty function where it
/// doesn't (operations that compute something of another shape).
[[nodiscard]] Undo undo_of(const torch::jit::Node* node, std::size_t index,
                           const GraphValues& values);

}  // namespace hot::models
