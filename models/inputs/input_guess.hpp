#pragma once

#include <torch/script.h>

#include <optional>
#include <string>

#include "models/inputs/input_pattern.hpp"

namespace hot::models {

/// A harmless value for an argument that is a Python scalar: 16000 for sampling rates, else 1, 1.0,
/// false, ""; nullopt for other types.
[[nodiscard]] std::optional<Pattern> guess_scalar(const std::string& name,
                                                  const c10::TypePtr& type);

/// Patterns of a tensor that the graph tells nothing about, from its name (masks, labels, lengths),
/// with images, rows and sequences after.
[[nodiscard]] std::vector<Pattern> guess_tensor(const std::string& name);

/// True for names of masks that are all true or all one where nothing is masked; *padding* masks
/// mark what is left out.
[[nodiscard]] bool is_mask(const std::string& name);
[[nodiscard]] bool is_padding_mask(const std::string& name);

}  // namespace hot::models
