#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "reports/plan.hpp"
#include "tests/core/all_schemes.hpp"

namespace hot::reports {
namespace {

// A plan holds any scheme that is legal on its path, and reads back the same.
TEST(PlanSchemes, EverySchemeComesBackFromJson) {
  Plan plan;
  plan.policy = "layerwise";
  plan.model = {std::string(64, '0'), 1};
  for (const Scheme& scheme : testing::all_schemes()) {
    LayerPlan layer{"layer" + std::to_string(plan.layers.size()), {3, 4}, {}, {}, {}, {}};
    if (!why_illegal(scheme, Path::grad_input)) layer.grad_input = scheme;
    if (!why_illegal(scheme, Path::grad_weight)) layer.grad_weight = scheme;
    plan.layers.push_back(layer);
  }
  const Plan back = read_plan(write_plan(plan), "plan.json");
  ASSERT_EQ(back.layers.size(), plan.layers.size());
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    EXPECT_EQ(back.layers[i].grad_input, plan.layers[i].grad_input);
    EXPECT_EQ(back.layers[i].grad_weight, plan.layers[i].grad_weight);
  }
}

TEST(PlanSchemes, TheSchemasPatternHoldsEveryScheme) {
  for (const char* file : {"plan.v1.json", "report.v1.json"}) {
    std::ifstream in(std::string(HOT_SOURCE_DIR) + "/reports/schema/" + file);
    const nlohmann::json schema = nlohmann::json::parse(in);
    const std::regex pattern(schema["$defs"]["scheme"]["pattern"].get<std::string>());
    for (const Scheme& scheme : testing::all_schemes())
      EXPECT_TRUE(std::regex_match(to_string(scheme), pattern)) << file << ' ' << to_string(scheme);
    for (const char* wrong : {"none+", "hat16", "none+int8/", "had16++int4"})
      EXPECT_FALSE(std::regex_match(wrong, pattern)) << wrong;
  }
}

}  // namespace
}  // namespace hot::reports
