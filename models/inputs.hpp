#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/model.hpp"

namespace hot::models {

/// One minibatch: the method's arguments, and labels if there are any.
struct Batch {
  std::vector<c10::IValue> inputs;
  at::Tensor labels;  ///< undefined without labels
};

struct Inputs {
  std::vector<Batch> batches;  ///< at least one
  std::string source;          ///< as in ModelInfo::inputs_source
  std::string description;     ///< e.g. "x float32 8x3x224x224"
  std::vector<std::string> notes;
};

/// Makes the minibatches: command line > specification inside the archive > traced_inputs.pkl >
/// inference (design.md, "Command line"; torchscript.md 3.7). Throws UsageError for a bad --input,
/// ModelError for data that doesn't fit or when nothing works (naming the flag to give).
[[nodiscard]] Inputs make_inputs(const Model& model, const InputOptions& options);

}  // namespace hot::models
