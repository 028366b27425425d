#include "reports/json_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/errors.hpp"
#include "reports/json_gpu.hpp"

namespace hot::reports {
namespace {

Why read_why(const JsonPart& part) {
  part.expect_keys({"runner_up", "margin", "constraint"});
  const JsonPart margin = part.at("margin");
  return {part.at("runner_up").text(), margin.json().is_null() ? 0 : margin.number(),
          part.at("constraint").text()};
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

constexpr std::array kOrigins = {Origin::measured, Origin::modelled, Origin::simulated};

bool is_known(const std::string& name) {
  const auto& infos = metric_infos();
  return std::any_of(infos.begin(), infos.end(),
                     [&](const MetricInfo& info) { return info.name == name; });
}

void read_metric(const JsonPart& entry, const std::string& name, Metrics& metrics) {
  entry.expect_keys({"value", "origin"}, {"ci95"});
  const Origin origin = read_name(entry.at("origin"), kOrigins);
  if (entry.at("value").json().is_null()) return;
  std::optional<double> ci95;
  if (entry.has("ci95") && !entry.at("ci95").json().is_null()) ci95 = entry.at("ci95").number();
  metrics.set(name, entry.at("value").number(), origin, ci95);
}

}  // namespace

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

std::vector<std::int64_t> read_shape(const JsonPart& part) {
  std::vector<std::int64_t> shape;
  shape.reserve(part.array_size());
  for (std::size_t i = 0; i < part.array_size(); ++i) shape.push_back(part.at(i).integer());
  return shape;
}

std::vector<std::string> read_texts(const JsonPart& part) {
  std::vector<std::string> texts;
  texts.reserve(part.array_size());
  for (std::size_t i = 0; i < part.array_size(); ++i) texts.push_back(part.at(i).text());
  return texts;
}

Metrics read_metrics(const JsonPart& part, std::vector<std::string>* unknown) {
  if (!part.json().is_object()) part.refuse("should be an object");
  Metrics metrics;
  for (const auto& [name, value] : part.json().items()) {
    if (is_known(name)) {
      read_metric(part.at(name), name, metrics);
    } else if (unknown == nullptr) {
      part.at(name).refuse("no metric has this name");
    } else if (std::find(unknown->begin(), unknown->end(), name) == unknown->end()) {
      unknown->push_back(name);
    }
  }
  return metrics;
}

std::vector<LayerPlan> read_plan_layers(const JsonPart& part) {
  std::vector<LayerPlan> layers;
  std::set<std::string> names;
  for (std::size_t i = 0; i < part.array_size(); ++i) {
    layers.push_back(read_layer(part.at(i)));
    if (!names.insert(layers.back().name).second) {
      part.at(i).refuse(fmt::format("layer '{}' stands twice", layers.back().name));
    }
  }
  return layers;
}

void read_plan_extras(const JsonPart& part, Plan& plan) {
  if (part.has("gpu")) plan.gpu = read_gpu(part.at("gpu"));
  if (part.has("notes")) plan.notes = read_texts(part.at("notes"));
  if (!part.has("front")) return;
  const JsonPart front = part.at("front");
  for (std::size_t i = 0; i < front.array_size(); ++i) {
    const JsonPart point = front.at(i);
    point.expect_keys({"kind", "name", "origin", "error", "ms", "saved_bytes"});
    plan.front.push_back({point.at("kind").text(), point.at("name").text(),
                          point.at("error").number(), point.at("ms").number(),
                          point.at("saved_bytes").number()});
  }
}

}  // namespace hot::reports
