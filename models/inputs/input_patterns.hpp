#pragma once

#include <torch/script.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "models/inputs/graph_values.hpp"
#include "models/inputs/input_pattern.hpp"
#include "models/model.hpp"

namespace hot::models {

/// Reads what a method's arguments must look like from its inlined graph: each argument is followed
/// through operations that keep or permute its shape to the operations that fix it
/// (torchscript.md, 3.7).
class InputPatterns {
 public:
  explicit InputPatterns(const Model& model);

  /// What argument number `argument` (without self) may be, best first; empty where the graph
  /// doesn't say.
  [[nodiscard]] std::vector<Pattern> of(std::size_t argument) const;

  /// Sizes that tables of positions among the parameters and buffers suggest for the open ones,
  /// likeliest first.
  [[nodiscard]] std::vector<std::int64_t> suggested_sizes() const;

 private:
  std::shared_ptr<torch::jit::Graph> graph_;
  GraphValues values_;
  std::vector<at::Tensor> tables_;  ///< parameters and buffers
};

}  // namespace hot::models
