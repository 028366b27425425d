#pragma once

#include <torch/script.h>

#include <optional>
#include <string>
#include <vector>

#include "models/inputs/input_spec.hpp"
#include "models/model.hpp"

namespace hot::models {

/// One argument of the model's method, without `self`.
struct Argument {
  std::string name;
  c10::TypePtr type;
  std::optional<c10::IValue> default_value;  ///< None for optional arguments that have no default

  [[nodiscard]] bool is_tensor() const;  ///< Tensor or Optional[Tensor]
};

/// The arguments in the schema's order. Throws ModelError where the model lacks the method, with
/// those it has.
[[nodiscard]] std::vector<Argument> method_arguments(const Model& model);

/// One entry per argument; empty where the schema's default holds or nothing is known yet.
using ArgumentSpecs = std::vector<std::optional<ValueSpec>>;

/// "x, mask (optional)", for messages.
[[nodiscard]] std::string list_arguments(const std::vector<Argument>& arguments);

/// Puts named and positional specifications in place. Throws UsageError for unknown or repeated
/// names and for too many.
[[nodiscard]] ArgumentSpecs place(const std::vector<NamedSpec>& given,
                                  const std::vector<Argument>& arguments);

/// Indices of arguments without a specification and without a default.
[[nodiscard]] std::vector<std::size_t> missing(const ArgumentSpecs& specs,
                                               const std::vector<Argument>& arguments);

/// First size of the first tensor; 0 where there is none.
[[nodiscard]] std::int64_t batch_of(const ArgumentSpecs& specs);

/// The same with `batch` as first size of every tensor whose first size equals batch_of(specs).
[[nodiscard]] ArgumentSpecs with_batch(ArgumentSpecs specs, std::int64_t batch);

/// "x float32 8x3x224x224; mask None".
[[nodiscard]] std::string describe(const ArgumentSpecs& specs,
                                   const std::vector<Argument>& arguments);

}  // namespace hot::models
