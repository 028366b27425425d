#include "reports/export_parts.hpp"

namespace hot::reports {
namespace {

Json losses_json(const std::vector<Loss>& losses) {
  Json json = Json::array();
  for (const Loss& loss : losses) {
    json.push_back({{"layer", loss.layer},
                    {"path", to_string(loss.path)},
                    {"scheme", loss.scheme},
                    {"why", loss.why}});
  }
  return json;
}

}  // namespace

Json export_head(const Plan& plan, std::string_view schema, std::string_view target) {
  return {{"schema", schema},
          {"target", target},
          {"model", {{"sha256", plan.model.sha256}, {"parameters", plan.model.parameters}}},
          {"policy", plan.policy}};
}

Exported exported(Json document, std::vector<Loss> differs, std::vector<Loss> not_expressed) {
  document["differs"] = losses_json(differs);
  document["not_expressed"] = losses_json(not_expressed);
  return {json_text(document), std::move(differs), std::move(not_expressed)};
}

bool is_linear(const LayerPlan& layer) {
  return layer.weight_shape.size() == 2;
}

void for_each_pick(const LayerPlan& layer, const std::function<void(Path, const Scheme&)>& use) {
  if (!layer.grad_input.is_exact()) use(Path::grad_input, layer.grad_input);
  if (!layer.grad_weight.is_exact()) use(Path::grad_weight, layer.grad_weight);
}

}  // namespace hot::reports
