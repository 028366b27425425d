#pragma once

#include <optional>

#include "models/inputs/signature.hpp"
#include "models/model.hpp"

namespace hot::models {

/// The shapes and types that torch.jit.trace kept in the record traced_inputs.pkl, for the model's
/// method; nullopt for files without it (scripted ones) and for records that don't fit the method.
/// Floating types are read as float32, as the loader makes the parameters.
[[nodiscard]] std::optional<ArgumentSpecs> read_traced_inputs(
    const Model& model, const std::vector<Argument>& arguments);

}  // namespace hot::models
