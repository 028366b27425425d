#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "example.hpp"
#include "reports/compare_formats.hpp"
#include "reports/export.hpp"
#include "reports/json.hpp"
#include "reports/json_text.hpp"
#include "reports/plan.hpp"
#include "reports/training_formats.hpp"
#include "tests/cli/process.hpp"

namespace hot::reports {
namespace {

std::string schema_path(const std::string& name) {
  return std::string(HOT_SOURCE_DIR) + "/reports/schema/" + name;
}

/// Validates texts against a schema with an independent validator, all in one process.
class Schema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::run_process({HOT_PYTHON, "-c", "import jsonschema"}).exit_code != 0) {
      GTEST_SKIP() << "the Python package jsonschema is not installed";
    }
  }

  test::Finished validate(const std::string& schema, const std::vector<std::string>& texts) {
    std::vector<std::string> command = {HOT_PYTHON,
                                        std::string(HOT_SOURCE_DIR) + "/tests/reports/validate.py",
                                        schema_path(schema)};
    for (std::size_t i = 0; i < texts.size(); ++i) {
      command.push_back(folder_ / fmt::format("{}.json", i));
      test::write_file(command.back(), texts[i]);
    }
    return test::run_process(command);
  }

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Schema, ReportsOfEveryStageAreValid) {
  std::vector<std::string> texts;
  for (const Report& report : testing::reports_of_every_stage())
    texts.push_back(write_json(report));
  Report report = testing::full_report();
  report.trace->loss = std::numeric_limits<double>::quiet_NaN();
  report.verification->total.set("speedup", 1, Origin::measured,
                                 std::numeric_limits<double>::infinity());
  report.plan->layers[0].grad_input = Scheme{};
  report.plan->layers[0].grad_weight = parse_scheme("low4r2.lp_l1");
  for (int outcome = 0; outcome <= static_cast<int>(Outcome::not_run); ++outcome) {
    report.verification->outcome = static_cast<Outcome>(outcome);
    texts.push_back(write_json(report));
  }
  const test::Finished ran = validate("report.v1.json", texts);
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(Schema, ProfilesAreValid) {
  Report report = testing::full_report();
  report.profile = testing::full_profile();
  std::vector<std::string> texts = {write_json(report)};
  report.profile->time.reset();
  report.profile->batches.reset();
  report.profile->target.reset();
  report.profile->memory->plan.reset();
  texts.push_back(write_json(report));
  const test::Finished ran = validate("report.v1.json", texts);
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(Schema, TrainingsAreValid) {
  Report report = testing::full_report();
  report.training = Training{2, 3, 1, "AdamW", {}, {}, {"a note"}};
  std::vector<std::string> texts = {write_training_json(report, {})};
  TrainingPair pair;
  pair.exact = {{1, std::numeric_limits<double>::quiet_NaN()}, 0.1, {}, {}};
  pair.plan = {{1, 2}, 0.1, 0.5, 90.0};
  pair.angles = {{1, 0.5}};
  report.training->pairs = {pair};
  report.training->total = testing::all_metrics();
  texts.push_back(write_training_json(report, {}));
  const test::Finished ran = validate("training.v1.json", texts);
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(Schema, PlansAreValid) {
  Plan plan = *testing::full_report().plan;
  std::vector<std::string> texts = {write_plan(plan)};
  plan.layers.clear();
  texts.push_back(write_plan(plan));
  const test::Finished ran = validate("plan.v1.json", texts);
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(Schema, ComparisonsAreValid) {
  const auto reports = testing::reports_of_every_stage();
  Report other = reports.back();
  other.plan->layers[0].grad_input = Scheme{};
  other.plan->layers.push_back({"new", {1, 1}, Scheme{}, Scheme{}, {}, {}});
  other.verification->total.set("gradient_error", std::numeric_limits<double>::quiet_NaN(),
                                Origin::measured);
  std::vector<std::string> texts;
  for (const Report& report : reports) {
    const Comparison comparison = compare(report, "a", other, "b");
    texts.push_back(
        write_comparison_json(comparison, {check(parse_fail_on("worse"), comparison)}, {}));
  }
  const test::Finished ran = validate("comparison.v1.json", texts);
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST_F(Schema, ExportsAreValid) {
  Plan plan = *testing::full_report().plan;
  plan.layers.push_back(
      {"fc", {16, 16}, parse_scheme("none+int8"), parse_scheme("had16+int4"), {}, {}});
  plan.layers.push_back({"conv", {16, 3, 3, 3}, Scheme{}, parse_scheme("had16"), {}, {}});
  for (const char* name : {"torchao", "transformer-engine"}) {
    const test::Finished ran =
        validate(fmt::format("{}.v1.json", name), {export_format(name).write(plan).text});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  }
}

TEST_F(Schema, WhatIsNotInItIsInvalid) {
  const Json report = Json::parse(write_json(testing::full_report()));
  const std::vector<std::string> places = {"",
                                           "/run",
                                           "/model",
                                           "/trace",
                                           "/trace/layers/0",
                                           "/trace/layers/0/gemms/forward/shapes/0",
                                           "/errors/layers/0",
                                           "/errors/layers/0/metrics/cosine",
                                           "/errors/lqs/0",
                                           "/plan",
                                           "/plan/layers/0/why/grad_input",
                                           "/verification",
                                           "/verification/layers/0"};
  std::vector<std::string> texts;
  for (const std::string& place : places) {
    Json changed = report;
    changed[Json::json_pointer(place)]["not_there"] = 1;
    texts.push_back(changed.dump());
  }
  const test::Finished ran = validate("report.v1.json", texts);
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = ran.out.find(fmt::format("/{}.json: ", i));
    ASSERT_NE(at, std::string::npos) << places[i];
    const std::string fault = ran.out.substr(at, ran.out.find('\n', at) - at);
    EXPECT_NE(fault.find("'not_there' was unexpected"), std::string::npos) << fault;
  }
  EXPECT_EQ(validate("plan.v1.json", {report.dump()}).exit_code, 1);
}

// The plan inside a report and the plan file share their parts word for word.
TEST(Schemas, DefineSharedPartsAlike) {
  const auto load = [](const char* name) {
    std::ifstream file(schema_path(name));
    return Json::parse(file)["$defs"];
  };
  const Json report = load("report.v1.json");
  const Json plan = load("plan.v1.json");
  for (const auto& [name, part] : plan.items()) EXPECT_EQ(report[name], part) << name;
  EXPECT_EQ(load("comparison.v1.json")["metric"], plan["metric"]);
}

}  // namespace
}  // namespace hot::reports
