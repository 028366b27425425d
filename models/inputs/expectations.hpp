#pragma once

#include <vector>

#include "models/data/conversion.hpp"
#include "models/inputs/signature.hpp"

namespace hot::models {

/// What the model expects of each argument that is a tensor, from the specification inside the
/// archive, the traced inputs, or the graph; empty where nothing is known.
[[nodiscard]] std::vector<Expected> expectations(const Model& model,
                                                 const std::vector<Argument>& arguments);

}  // namespace hot::models
