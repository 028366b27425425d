#include "reports/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/errors.hpp"
#include "example.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Plan example() {
  return *testing::full_report().plan;
}

std::string refusal(const std::string& text) {
  try {
    (void)read_plan(text, "p.json");
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

/// The refusal of the example after `change`.
std::string refusal_of(const std::function<void(Json&)>& change) {
  Json json = Json::parse(write_plan(example()));
  change(json);
  return refusal(json.dump());
}

TEST(PlanFile, ReadsBackWhatWasWritten) {
  const Plan plan = example();
  const Plan read = read_plan(write_plan(plan), "p.json");
  EXPECT_EQ(read.policy, plan.policy);
  EXPECT_EQ(read.model.sha256, plan.model.sha256);
  EXPECT_EQ(read.model.parameters, plan.model.parameters);
  ASSERT_EQ(read.layers.size(), 1U);
  EXPECT_EQ(read.layers[0].name, plan.layers[0].name);
  EXPECT_EQ(read.layers[0].weight_shape, plan.layers[0].weight_shape);
  EXPECT_EQ(read.layers[0].grad_input, plan.layers[0].grad_input);
  EXPECT_EQ(read.layers[0].grad_weight, plan.layers[0].grad_weight);
  EXPECT_EQ(read.layers[0].why_grad_input.runner_up, plan.layers[0].why_grad_input.runner_up);
  EXPECT_EQ(read.layers[0].why_grad_input.margin, plan.layers[0].why_grad_input.margin);
  EXPECT_EQ(read.layers[0].why_grad_weight.constraint, plan.layers[0].why_grad_weight.constraint);
  for (const Metric& metric : plan.predicted.all()) {
    const Metric* same = read.predicted.find(metric.info->name);
    ASSERT_NE(same, nullptr) << metric.info->name;
    EXPECT_EQ(same->value, metric.value);
    EXPECT_EQ(same->origin, metric.origin);
    EXPECT_EQ(same->ci95, metric.ci95);
  }
  EXPECT_EQ(write_plan(read), write_plan(plan));
}

TEST(PlanFile, ReasonsAndPredictionsCanBeLeftOut) {
  EXPECT_EQ(refusal_of([](Json& j) {
              j.erase("predicted");
              j["layers"][0].erase("why");
            }),
            "accepted");
}

TEST(PlanFile, PredictionsThatWereNotFiniteAreNotKnown) {
  Plan plan = example();
  plan.predicted.set("cost", std::numeric_limits<double>::quiet_NaN(), Origin::modelled);
  EXPECT_EQ(read_plan(write_plan(plan), "p.json").predicted.find("cost"), nullptr);
}

// Every object of the format refuses a key that it doesn't know, with the place.
TEST(PlanFile, UnknownKeysAreRefusedEverywhere) {
  const std::vector<std::pair<std::string, std::string>> objects = {
      {"", "p.json: the key 'x'"},
      {"/model", "p.json: model: the key 'x'"},
      {"/layers/0", "p.json: layers[0]: the key 'x'"},
      {"/layers/0/why", "p.json: layers[0].why: the key 'x'"},
      {"/layers/0/why/grad_weight", "p.json: layers[0].why.grad_weight: the key 'x'"},
      {"/predicted", "p.json: predicted.x: no metric has this name"},
      {"/predicted/cost", "p.json: predicted.cost: the key 'x'"}};
  for (const auto& [place, message] : objects) {
    const std::string said =
        refusal_of([&, &place = place](Json& j) { j[Json::json_pointer(place)]["x"] = 1; });
    EXPECT_THAT(said, StartsWith(message));
  }
}

TEST(PlanFile, MissingKeysAreNamed) {
  for (const char* key : {"schema", "policy", "model", "layers"}) {
    EXPECT_THAT(refusal_of([&](Json& j) { j.erase(key); }),
                HasSubstr("the key '" + std::string(key) + "' is missing"));
  }
  for (const char* key : {"name", "weight_shape", "grad_input", "grad_weight"}) {
    EXPECT_THAT(refusal_of([&](Json& j) { j["layers"][0].erase(key); }),
                HasSubstr("layers[0]: the key '" + std::string(key) + "' is missing"));
  }
}

TEST(PlanFile, OtherSchemasAreRefused) {
  EXPECT_THAT(refusal_of([](Json& j) { j["schema"] = "hot-analyze.report.v1"; }),
              HasSubstr("this is a report; give the file that --plan wrote"));
  EXPECT_THAT(refusal_of([](Json& j) { j["schema"] = "hot-analyze.plan.v2"; }),
              HasSubstr("is not 'hot-analyze.plan.v1'"));
  EXPECT_THAT(refusal_of([](Json& j) { j["schema"] = 1; }), HasSubstr("should be a string"));
}

TEST(PlanFile, SchemesAreCheckedForTheirPath) {
  EXPECT_THAT(refusal_of([](Json& j) { j["layers"][0]["grad_input"] = "had16+int5"; }),
              HasSubstr("layers[0].grad_input: scheme 'had16+int5': unknown format"));
  EXPECT_THAT(refusal_of([](Json& j) { j["layers"][0]["grad_input"] = "had16+nvfp4/row"; }),
              HasSubstr("nvfp4 has a scale per 16 of the contraction by itself"));
  EXPECT_THAT(refusal_of([](Json& j) { j["layers"][0]["grad_weight"] = "had16+int8/row"; }),
              HasSubstr("layers[0].grad_weight: scheme 'had16+int8/row/nearest' is illegal: "));
}

TEST(PlanFile, WrongTypesAreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal_of([](Json& j) { j["layers"] = 1; }),
              HasSubstr("layers: should be an array, not number"));
  EXPECT_THAT(refusal_of([](Json& j) { j["layers"][0]["weight_shape"][1] = 1.5; }),
              HasSubstr("layers[0].weight_shape[1]: should be an integer of 0 or more, not 1.5"));
  EXPECT_THAT(refusal_of([](Json& j) { j["model"]["parameters"] = -1; }),
              HasSubstr("model.parameters: should be an integer of 0 or more, not -1"));
  EXPECT_THAT(refusal_of([](Json& j) { j["model"]["parameters"] = 18446744073709551615ULL; }),
              HasSubstr("model.parameters: should be an integer"));
  EXPECT_THAT(refusal_of([](Json& j) { j["predicted"]["cost"]["origin"] = "guessed"; }),
              HasSubstr("'guessed' is none of measured, modelled, simulated"));
  EXPECT_THAT(refusal("[]"), HasSubstr("should be an object"));
}

TEST(PlanFile, ALayerStandsOnce) {
  EXPECT_THAT(refusal_of([](Json& j) { j["layers"].push_back(j["layers"][0]); }),
              HasSubstr("layers[1]: layer 'blocks.0.attn.qkv' stands twice"));
}

TEST(PlanFile, WhatIsNoJsonIsRefusedInOneLine) {
  for (const char* text : {"", "{", "not json", "{\"schema\": \"hot-analyze.plan.v1\",}", "\xff"}) {
    const std::string said = refusal(text);
    EXPECT_THAT(said, StartsWith("p.json is no JSON: ")) << text;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
  EXPECT_THAT(refusal("{\"schema\": \"a\", \"model\": {\"b\": 1, \"b\": 2}}"),
              HasSubstr("the key 'b' stands twice"));
}

TEST(PlanFile, DeepNestingDoesNotOverflow) {
  EXPECT_THAT(refusal(std::string(1'000'000, '[')), StartsWith("p.json is no JSON"));
}

}  // namespace
}  // namespace hot::reports
