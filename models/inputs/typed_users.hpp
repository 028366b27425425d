#pragma once

#include <torch/script.h>

#include <vector>

#include "models/inputs/graph_values.hpp"
#include "models/inputs/input_pattern.hpp"

namespace hot::models {

/// What an operation demands of one of its inputs.
struct Demand {
  int strength = 0;               ///< stronger demands win: they fix type and number of dimensions
  std::vector<Pattern> patterns;  ///< tensors, best first
};

/// What `node` demands of its input number `index`; no patterns where it takes any tensor. Known:
/// convolutions, embeddings, linear layers and products with a constant matrix, recurrent layers,
/// normalizations, losses' targets, one_hot, sums with a constant table, and sizes that are
/// unpacked.
[[nodiscard]] Demand demand_of(const torch::jit::Node* node, std::size_t index,
                               const GraphValues& values);

}  // namespace hot::models
