#include <fmt/format.h>

#include "core/scheme_parts.hpp"
#include "reports/export.hpp"
#include "reports/export_parts.hpp"

namespace hot::reports {
namespace {

/// torchao rounds both operands to int8 with a scale per index that isn't contracted (README of
/// torchao.prototype.quantized_training): rows of gy and columns of W, or columns of gy and of x.
Granularity granularity_of(Path path) {
  return path == Path::grad_input ? Granularity::row : Granularity::column;
}

/// Why torchao can't run the scheme at all; empty if it can.
std::string why_not(const LayerPlan& layer, const Scheme& scheme) {
  if (!is_linear(layer)) return "torchao trains linear layers alone in INT8";
  if (scheme.transform.kind != Transform::Kind::none) {
    return "torchao has no Hadamard transform or projection";
  }
  if (scheme.outliers > 0) return "torchao has no outlier extraction";
  if (scheme.block > 0) return "torchao has no scales for blocks of the contraction";
  if (scheme.format_of_other() != scheme.format) return "torchao has one format for both operands";
  if (scheme.format != Format::int8) {
    return fmt::format("torchao trains in INT8, not {}", to_string(scheme.format));
  }
  return "";
}

/// What torchao does differently; empty if it computes the same.
std::string difference(Path path, const Scheme& scheme) {
  std::string text;
  if (scheme.granularity != granularity_of(path) || scheme.other != Granularity::column) {
    text = fmt::format("scales per {} of gy and column of {}, finer than planned",
                       to_string(granularity_of(path)), path == Path::grad_input ? "W" : "x");
  }
  if (scheme.rounding != Rounding::nearest) {
    text += fmt::format("{}rounds to nearest, not stochastically", text.empty() ? "" : "; ");
  }
  return text;
}

}  // namespace

Exported export_torchao(const Plan& plan) {
  Json document = export_head(plan, "hot-analyze.torchao.v1",
                              "torchao.prototype.quantized_training."
                              "Int8MixedPrecisionTrainingConfig");
  Json layers = Json::object();
  std::vector<Loss> differs;
  std::vector<Loss> not_expressed;
  for (const LayerPlan& layer : plan.layers) {
    Json flags = {{"output", false}, {"grad_input", false}, {"grad_weight", false}};
    bool any = false;
    for_each_pick(layer, [&](Path path, const Scheme& scheme) {
      const std::string reason = why_not(layer, scheme);
      if (!reason.empty()) {
        not_expressed.push_back({layer.name, path, to_string(scheme), reason});
        return;
      }
      any = true;
      flags[to_string(path)] = true;
      const std::string other = difference(path, scheme);
      if (!other.empty()) differs.push_back({layer.name, path, to_string(scheme), other});
    });
    if (any) layers[layer.name] = std::move(flags);
  }
  document["layers"] = std::move(layers);
  return exported(std::move(document), std::move(differs), std::move(not_expressed));
}

}  // namespace hot::reports
