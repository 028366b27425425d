#include <fmt/format.h>

#include "reports/json_parts.hpp"
#include "reports/json_reader.hpp"
#include "reports/plan.hpp"

namespace hot::reports {
namespace {

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
  root.expect_keys({"schema", "policy", "model", "layers"}, {"predicted", "front", "notes", "gpu"});
  const JsonPart model = root.at("model");
  model.expect_keys({"sha256", "parameters"});
  Plan plan{root.at("policy").text(),
            {model.at("sha256").text(), model.at("parameters").integer()},
            read_plan_layers(root.at("layers")),
            {}};
  if (root.has("predicted")) plan.predicted = read_metrics(root.at("predicted"));
  read_plan_extras(root, plan);
  return plan;
}

}  // namespace hot::reports
