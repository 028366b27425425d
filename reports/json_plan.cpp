#include "reports/json_plan.hpp"

#include <fmt/format.h>

#include "reports/json_gpu.hpp"

namespace hot::reports {
namespace {

Json why_json(const Why& why, const std::string& place, JsonNumbers& numbers) {
  return {{"runner_up", why.runner_up},
          {"margin", numbers.number(why.margin, place + " margin")},
          {"constraint", why.constraint}};
}

Json front_json(const std::vector<FrontPoint>& front, JsonNumbers& numbers) {
  Json points = Json::array();
  for (const FrontPoint& p : front) {
    points.push_back({{"kind", p.kind},
                      {"name", p.name},
                      {"origin", "modelled"},
                      {"error", numbers.number(p.error, "front error")},
                      {"ms", numbers.number(p.ms, "front ms")},
                      {"saved_bytes", numbers.number(p.saved_bytes, "front saved_bytes")}});
  }
  return points;
}

}  // namespace

Json plan_json(const Plan& plan, JsonNumbers& numbers) {
  Json layers = Json::array();
  for (const LayerPlan& layer : plan.layers) {
    const std::string place = fmt::format("plan of layer '{}':", layer.name);
    layers.push_back(
        {{"name", layer.name},
         {"weight_shape", layer.weight_shape},
         {"grad_input", to_string(layer.grad_input)},
         {"grad_weight", to_string(layer.grad_weight)},
         {"why",
          {{"grad_input", why_json(layer.why_grad_input, place + " grad_input", numbers)},
           {"grad_weight", why_json(layer.why_grad_weight, place + " grad_weight", numbers)}}}});
  }
  Json json = {{"policy", plan.policy},
               {"layers", std::move(layers)},
               {"predicted", numbers.metrics(plan.predicted, "predicted")}};
  if (!plan.front.empty()) json["front"] = front_json(plan.front, numbers);
  if (!plan.notes.empty()) json["notes"] = plan.notes;
  if (plan.gpu) json["gpu"] = gpu_json(*plan.gpu);
  return json;
}

}  // namespace hot::reports
