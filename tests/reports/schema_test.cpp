#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include "example.hpp"
#include "reports/json.hpp"
#include "reports/json_text.hpp"
#include "reports/plan.hpp"

namespace hot::reports {
namespace {

namespace fs = std::filesystem;

const fs::path kSchemas = fs::path(HOT_SOURCE_DIR) / "reports" / "schema";

struct Ran {
  int status = -1;
  std::string output;
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer{};
  while (std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe)) {
    ran.output.append(buffer.data(), got);
  }
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

/// Validates texts against a schema with an independent validator, all in one process.
class Schema : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run(HOT_PYTHON " -c 'import jsonschema'").status != 0) {
      GTEST_SKIP() << "the Python package jsonschema is not installed";
    }
    folder_ = fs::temp_directory_path() /
              fmt::format("hot_schema_test.{}.{}", getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }

  Ran validate(const std::string& schema, const std::vector<std::string>& texts) {
    std::string command = fmt::format("{} {}/tests/reports/validate.py {}", HOT_PYTHON,
                                      HOT_SOURCE_DIR, (kSchemas / schema).string());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const fs::path file = folder_ / fmt::format("{}.json", i);
      std::ofstream(file) << texts[i];
      command += fmt::format(" {}", file.string());
    }
    return run(command);
  }

 private:
  fs::path folder_;
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
  const Ran ran = validate("report.v1.json", texts);
  EXPECT_EQ(ran.status, 0) << ran.output;
}

TEST_F(Schema, PlansAreValid) {
  Plan plan = *testing::full_report().plan;
  std::vector<std::string> texts = {write_plan(plan)};
  plan.layers.clear();
  texts.push_back(write_plan(plan));
  const Ran ran = validate("plan.v1.json", texts);
  EXPECT_EQ(ran.status, 0) << ran.output;
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
  const Ran ran = validate("report.v1.json", texts);
  EXPECT_EQ(ran.status, 1) << ran.output;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = ran.output.find(fmt::format("/{}.json: ", i));
    ASSERT_NE(at, std::string::npos) << places[i];
    const std::string fault = ran.output.substr(at, ran.output.find('\n', at) - at);
    EXPECT_NE(fault.find("'not_there' was unexpected"), std::string::npos) << fault;
  }
  EXPECT_EQ(validate("plan.v1.json", {report.dump()}).status, 1);
}

// The plan inside a report and the plan file share their parts word for word.
TEST(Schemas, DefineSharedPartsAlike) {
  const auto load = [](const char* name) {
    std::ifstream file(kSchemas / name);
    return Json::parse(file)["$defs"];
  };
  const Json report = load("report.v1.json");
  const Json plan = load("plan.v1.json");
  for (const auto& [name, part] : plan.items()) EXPECT_EQ(report[name], part) << name;
}

}  // namespace
}  // namespace hot::reports
