#pragma once

#include <torch/script.h>

#include <string>

#include "models/inputs/input_spec.hpp"

namespace hot::models {

/// torch's type for a name of spec_dtypes(), and back ("" for types that the grammar lacks).
[[nodiscard]] at::ScalarType scalar_type(const std::string& dtype);
[[nodiscard]] std::string dtype_name(at::ScalarType type);

/// Random values as models/README.md says: N(0,1) or uniform over the range. Throws UsageError
/// where the tensor alone would need more memory than the machine has; nothing is allocated then.
[[nodiscard]] at::Tensor random_tensor(const ValueSpec& spec, at::Generator generator);

/// A value of exactly the schema's `type` (typed lists, tuples, dictionaries; named tuples;
/// optionals) as `spec` says. `name` is the argument's, for messages. Throws UsageError where the
/// two don't fit.
[[nodiscard]] c10::IValue build_value(const ValueSpec& spec, const c10::TypePtr& type,
                                      const std::string& name, const at::Generator& generator);

}  // namespace hot::models
