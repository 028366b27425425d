#include "reports/json_plan.hpp"
#include "reports/plan.hpp"

namespace hot::reports {

std::string write_plan(const Plan& plan) {
  JsonNumbers numbers;
  Json json;
  json["schema"] = kPlanSchema;
  json["model"] = {{"sha256", plan.model.sha256}, {"parameters", plan.model.parameters}};
  json.update(plan_json(plan, numbers));
  return json_text(json);
}

}  // namespace hot::reports
