#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan.hpp"

namespace hot::reports {

/// A pick that another tool can't run as it is planned.
struct Loss {
  std::string layer;
  Path path = Path::grad_input;
  std::string scheme;
  std::string why;  ///< what the tool lacks, or what it does instead
};

/// A plan in the words of another tool. Nothing is dropped in silence: `differs` runs there, but
/// with other numbers than the plan measured; `not_expressed` stays exact there. Both also stand in
/// the text where the format has room for them.
struct Exported {
  std::string text;  ///< ends in a newline
  std::vector<Loss> differs;
  std::vector<Loss> not_expressed;
};

struct ExportFormat {
  std::string_view name;         ///< "hot", "torchao" …
  std::string_view description;  ///< one line
  Exported (*write)(const Plan& plan);
};

/// Every target: a new one is a file of its own and a row here.
[[nodiscard]] const std::vector<ExportFormat>& export_formats();

/// The target called `name`. Throws UsageError naming those that there are.
[[nodiscard]] const ExportFormat& export_format(std::string_view name);

/// Flags of torchao's Int8MixedPrecisionTrainingConfig for every layer that it can serve, schema
/// hot-analyze.torchao.v1: int8 without a transform, on linear layers.
[[nodiscard]] Exported export_torchao(const Plan& plan);

/// A quantizer for each role and direction of every linear layer, for the qfactory of
/// Transformer Engine's CustomRecipe, schema hot-analyze.transformer-engine.v1. It has no integers:
/// 8- and 4-bit floats stand in, and every substitute is said.
[[nodiscard]] Exported export_transformer_engine(const Plan& plan);

/// One row a layer and gradient, the scheme taken apart.
[[nodiscard]] Exported export_csv(const Plan& plan);

}  // namespace hot::reports
