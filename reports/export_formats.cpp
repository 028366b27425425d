#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/scheme_parts.hpp"
#include "reports/csv.hpp"
#include "reports/export.hpp"
#include "reports/plan.hpp"

namespace hot::reports {
namespace {

Exported export_hot(const Plan& plan) {
  return {write_plan(plan), {}, {}};
}

std::string transform_name(const Transform& transform) {
  switch (transform.kind) {
    case Transform::Kind::none:
      return "none";
    case Transform::Kind::hadamard:
      return "hadamard";
    case Transform::Kind::lowrank:
      return "lowrank";
    case Transform::Kind::rht:
      return "rht";
    case Transform::Kind::patch:
      return "patch";
  }
  return "?";
}

std::string line(const LayerPlan& layer, Path path, const Scheme& scheme, const Why& why) {
  const Transform& t = scheme.transform;
  const bool quantized = scheme.format != Format::none;
  const bool lowrank = t.kind == Transform::Kind::lowrank || t.kind == Transform::Kind::patch;
  const auto if_quantized = [&](auto part) {
    return quantized ? std::string(to_string(part)) : std::string();
  };
  return csv_line({layer.name, to_string(path), to_string(scheme), transform_name(t),
                   t.kind == Transform::Kind::none ? "" : std::to_string(t.order),
                   lowrank ? std::to_string(t.rank) : "",
                   lowrank ? std::string(to_string(t.basis)) : "",
                   std::string(to_string(scheme.format)), if_quantized(scheme.granularity),
                   if_quantized(scheme.other), if_quantized(scheme.rounding), why.runner_up,
                   why.runner_up.empty() ? "" : fmt::format("{}", why.margin), why.constraint});
}

}  // namespace

Exported export_csv(const Plan& plan) {
  std::string text =
      "layer,path,scheme,transform,order,rank,basis,format,granularity,other_granularity,rounding,"
      "runner_up,margin,constraint\n";
  for (const LayerPlan& layer : plan.layers) {
    text += line(layer, Path::grad_input, layer.grad_input, layer.why_grad_input);
    text += line(layer, Path::grad_weight, layer.grad_weight, layer.why_grad_weight);
  }
  return {text, {}, {}};
}

const std::vector<ExportFormat>& export_formats() {
  static const std::vector<ExportFormat> table = {
      {"hot", "this project's plan, as verify reads it", export_hot},
      {"torchao", "flags for torchao's INT8 mixed-precision training", export_torchao},
      {"transformer-engine", "quantizers by role for its CustomRecipe", export_transformer_engine},
      {"csv", "a row a layer and gradient", export_csv},
  };
  return table;
}

const ExportFormat& export_format(std::string_view name) {
  std::string names;
  for (const ExportFormat& candidate : export_formats()) {
    if (candidate.name == name) return candidate;
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", candidate.name);
  }
  throw UsageError(fmt::format("there is no export format '{}'; the formats are {}", name, names));
}

}  // namespace hot::reports
