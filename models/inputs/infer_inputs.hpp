#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/inputs/signature.hpp"

namespace hot::models {

struct InferredInputs {
  ArgumentSpecs specs;
  std::vector<std::string> notes;
};

/// Completes `known` by what the graph and the names of the arguments suggest
/// (torchscript.md, 3.7); open sizes are tried with forward passes on copies, with a batch of
/// `batch`, or, where that is 0, of the known arguments', or 2, then 8, then 1. Throws ModelError
/// naming the flag to give, with the model's own last line, where nothing runs.
[[nodiscard]] InferredInputs infer_inputs(const Model& model,
                                          const std::vector<Argument>& arguments,
                                          const ArgumentSpecs& known, int batch,
                                          std::uint64_t seed);

/// Gives ranges to integer and boolean tensors that have none: the rows of the embedding that they
/// meet, masks as nothing masked. Others stay as they are (0..1).
void assume_values(const Model& model, const std::vector<Argument>& arguments,
                   ArgumentSpecs* specs);

/// The argument's values as build_value() makes them, schema defaults where there is no
/// specification.
[[nodiscard]] std::vector<c10::IValue> build_arguments(const ArgumentSpecs& specs,
                                                       const std::vector<Argument>& arguments,
                                                       std::uint64_t seed);

}  // namespace hot::models
