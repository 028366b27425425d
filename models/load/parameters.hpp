#pragma once

#include <torch/script.h>

#include <string>
#include <vector>

#include "models/model.hpp"

namespace hot::models {

/// The module's parameters in the order of their names, one entry per TensorImpl with all the names
/// that reach it. Buffers and other attributes are none.
[[nodiscard]] std::vector<Parameter> module_parameters(const torch::jit::Module& module);

/// Makes every float16, bfloat16 and float64 tensor among the module's parameters, buffers and
/// other attributes (inside lists and dictionaries too) float32, in place, so that tied weights
/// stay tied; integers stay as they are (Module::to would convert them). Returns a sentence that
/// says how many were changed, or nothing.
[[nodiscard]] std::vector<std::string> convert_to_float32(const torch::jit::Module& module);

}  // namespace hot::models
