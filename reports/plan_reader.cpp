#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/errors.hpp"
#include "reports/json_reader.hpp"
#include "reports/plan.hpp"

namespace hot::reports {
namespace {

Scheme read_scheme(const JsonPart& part, Path path) {
  Scheme scheme;
  try {
    scheme = parse_scheme(part.text());
  } catch (const UsageError& error) {
    part.refuse(error.what());
  }
  if (const auto reason = why_illegal(scheme, path)) {
    part.refuse(fmt::format("scheme '{}' is illegal: {}", to_string(scheme), *reason));
  }
  return scheme;
}

Why read_why(const JsonPart& part) {
  part.expect_keys({"runner_up", "margin", "constraint"});
  const JsonPart margin = part.at("margin");
  return {part.at("runner_up").text(), margin.json().is_null() ? 0 : margin.number(),
          part.at("constraint").text()};
}

std::vector<std::int64_t> read_shape(const JsonPart& part) {
  std::vector<std::int64_t> shape;
  shape.reserve(part.array_size());
  for (std::size_t i = 0; i < part.array_size(); ++i) shape.push_back(part.at(i).integer());
  return shape;
}

LayerPlan read_layer(const JsonPart& part) {
  part.expect_keys({"name", "weight_shape", "grad_input", "grad_weight"}, {"why"});
  LayerPlan layer{part.at("name").text(),
                  read_shape(part.at("weight_shape")),
                  read_scheme(part.at("grad_input"), Path::grad_input),
                  read_scheme(part.at("grad_weight"), Path::grad_weight),
                  {},
                  {}};
  if (part.has("why")) {
    const JsonPart why = part.at("why");
    why.expect_keys({"grad_input", "grad_weight"});
    layer.why_grad_input = read_why(why.at("grad_input"));
    layer.why_grad_weight = read_why(why.at("grad_weight"));
  }
  return layer;
}

Origin read_origin(const JsonPart& part) {
  const std::string text = part.text();
  for (const Origin origin : {Origin::measured, Origin::modelled, Origin::simulated}) {
    if (text == to_string(origin)) return origin;
  }
  part.refuse(fmt::format("'{}' is not measured, modelled or simulated", text));
}

/// A value of null (it was no finite number) is left out.
Metrics read_metrics(const JsonPart& part) {
  Metrics metrics;
  if (!part.json().is_object()) part.refuse("should be an object");
  for (const auto& [name, value] : part.json().items()) {
    const JsonPart entry = part.at(name);
    const auto& infos = metric_infos();
    if (std::none_of(infos.begin(), infos.end(),
                     [&, &name = name](const MetricInfo& info) { return info.name == name; })) {
      entry.refuse("no metric has this name");
    }
    entry.expect_keys({"value", "origin"}, {"ci95"});
    const Origin origin = read_origin(entry.at("origin"));
    if (value["value"].is_null()) continue;
    std::optional<double> ci95;
    if (entry.has("ci95") && !value["ci95"].is_null()) ci95 = entry.at("ci95").number();
    metrics.set(name, entry.at("value").number(), origin, ci95);
  }
  return metrics;
}

void check_schema(const JsonPart& root) {
  if (!root.json().is_object()) root.refuse("should be an object");
  if (!root.has("schema")) {
    root.refuse(fmt::format("the key 'schema' is missing; a plan has '{}' there", kPlanSchema));
  }
  const std::string schema = root.at("schema").text();
  if (schema == kPlanSchema) return;
  const bool is_report = schema.find(".report.") != std::string::npos;
  root.at("schema").refuse(
      is_report
          ? "this is a report; give the file that --plan wrote"
          : fmt::format("'{}' is not '{}', the one that this version reads", schema, kPlanSchema));
}

}  // namespace

Plan read_plan(std::string_view text, const std::string& where) {
  const Json json = parse_json(text, where);
  const JsonPart root(json, where);
  check_schema(root);
  root.expect_keys({"schema", "policy", "model", "layers"}, {"predicted"});
  const JsonPart model = root.at("model");
  model.expect_keys({"sha256", "parameters"});
  Plan plan{root.at("policy").text(),
            {model.at("sha256").text(), model.at("parameters").integer()},
            {},
            {}};
  std::set<std::string> names;
  const JsonPart layers = root.at("layers");
  for (std::size_t i = 0; i < layers.array_size(); ++i) {
    plan.layers.push_back(read_layer(layers.at(i)));
    if (!names.insert(plan.layers.back().name).second) {
      layers.at(i).refuse(fmt::format("layer '{}' stands twice", plan.layers.back().name));
    }
  }
  if (root.has("predicted")) plan.predicted = read_metrics(root.at("predicted"));
  return plan;
}

}  // namespace hot::reports
