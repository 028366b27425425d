#include <fmt/format.h>

#include "core/scheme_parts.hpp"
#include "reports/export.hpp"
#include "reports/export_parts.hpp"

namespace hot::reports {
namespace {

/// Transformer Engine's products read these representations: dgrad weight.columnwise and
/// grad_output.rowwise, wgrad input.columnwise and grad_output.columnwise; the forward product
/// reads the rowwise ones, which stay as they are.
Json exact() {
  return {{"quantizer", "IdentityQuantizer"}};
}

struct Substitute {
  Json gy;
  Json other;  ///< W or x
  std::string difference;
};

Substitute eight_bits(const Scheme& scheme) {
  std::string difference = fmt::format("8-bit floats (MXFP8, e4m3, a scale per 32) in place of {}",
                                       to_string(scheme.format));
  if (scheme.format == Format::mxfp8) difference = "MXFP8";
  if (scheme.transform.kind != Transform::Kind::none) difference += ", without the transform";
  if (scheme.rounding == Rounding::stochastic) difference += ", rounded to nearest";
  const Json mxfp8 = {{"quantizer", "MXFP8Quantizer"}, {"fp8_dtype", "E4M3"}};
  return {mxfp8, mxfp8, difference};
}

/// Its 16x16 Hadamard transform (with random signs) exists for wgrad's operands alone.
Substitute four_bits(Path path, const Scheme& scheme) {
  const bool signs = scheme.transform.kind == Transform::Kind::rht;
  const bool transformed = signs || scheme.transform.kind == Transform::Kind::hadamard;
  const bool rht = transformed && path == Path::grad_weight;
  const bool stochastic = scheme.rounding == Rounding::stochastic;
  const auto nvfp4 = [&](bool rounds_stochastically) -> Json {
    return {{"quantizer", "NVFP4Quantizer"},
            {"with_rht", rht},
            {"with_post_rht_amax", rht},
            {"with_2d_quantization", false},
            {"stochastic_rounding", rounds_stochastically}};
  };
  std::string difference =
      fmt::format("4-bit floats (NVFP4, a scale per 16) in place of {}", to_string(scheme.format));
  if (scheme.format == Format::nvfp4) difference = "NVFP4";
  if (rht) difference += ", transform of order 16 with random signs";
  if (transformed && !rht) difference += ", without the transform";
  return {nvfp4(stochastic), nvfp4(false), difference};
}

/// Why there is nothing to put in its place; empty if there is.
std::string why_not(const LayerPlan& layer, const Scheme& scheme) {
  if (!is_linear(layer)) return "Transformer Engine quantizes linear layers alone";
  if (scheme.outliers > 0) return "Transformer Engine has no outlier extraction";
  if (scheme.format_of_other() != scheme.format)
    return "Transformer Engine has no product of these two formats";
  if (scheme.transform.kind == Transform::Kind::lowrank) {
    return "Transformer Engine has no low-rank product";
  }
  if (scheme.format == Format::none) return "Transformer Engine has no transform without a format";
  return "";
}

void put(Json& roles, Path path, Substitute substitute) {
  if (path == Path::grad_input) {
    roles["weight"]["columnwise"] = std::move(substitute.other);
    roles["grad_output"]["rowwise"] = std::move(substitute.gy);
  } else {
    roles["input"]["columnwise"] = std::move(substitute.other);
    roles["grad_output"]["columnwise"] = std::move(substitute.gy);
  }
}

}  // namespace

Exported export_transformer_engine(const Plan& plan) {
  Json document = export_head(plan, "hot-analyze.transformer-engine.v1",
                              "transformer_engine.common.recipe.CustomRecipe");
  Json layers = Json::object();
  std::vector<Loss> differs;
  std::vector<Loss> not_expressed;
  for (const LayerPlan& layer : plan.layers) {
    Json roles;
    for (const char* role : {"input", "weight", "grad_output"}) {
      roles[role] = {{"rowwise", exact()}, {"columnwise", exact()}};
    }
    for_each_pick(layer, [&](Path path, const Scheme& scheme) {
      const std::string reason = why_not(layer, scheme);
      if (!reason.empty()) {
        not_expressed.push_back({layer.name, path, to_string(scheme), reason});
        return;
      }
      Substitute substitute =
          bits(scheme.format) == 8 ? eight_bits(scheme) : four_bits(path, scheme);
      differs.push_back({layer.name, path, to_string(scheme), substitute.difference});
      put(roles, path, std::move(substitute));
    });
    if (is_linear(layer)) layers[layer.name] = std::move(roles);
  }
  document["layers"] = std::move(layers);
  return exported(std::move(document), std::move(differs), std::move(not_expressed));
}

}  // namespace hot::reports
