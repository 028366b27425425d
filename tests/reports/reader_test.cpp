#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/errors.hpp"
#include "example.hpp"
#include "reports/json.hpp"
#include "reports/json_text.hpp"
#include "reports/plan.hpp"
#include "reports/report_reader.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    (void)read_report_or_plan(text, "r.json");
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

std::string refusal_of(const std::function<void(Json&)>& change) {
  Json json = Json::parse(write_json(testing::full_report()));
  change(json);
  return refusal(json.dump());
}

// What the writer wrote, written again, is the same text: nothing is lost on the way.
TEST(ReportReader, ReadsBackWhatWasWritten) {
  for (const Report& report : testing::reports_of_every_stage()) {
    const std::string text = write_json(report);
    EXPECT_EQ(write_json(read_report(text, "r.json")), text);
  }
}

TEST(ReportReader, NumbersThatWereNotFiniteAreNotKnown) {
  Report report = testing::full_report();
  report.trace->loss = std::numeric_limits<double>::infinity();
  report.verification->total.set("speedup", std::nan(""), Origin::measured);
  const Report read = read_report(write_json(report), "r.json");
  EXPECT_TRUE(std::isnan(read.trace->loss));
  EXPECT_EQ(read.verification->total.find("speedup"), nullptr);
}

TEST(ReportReader, MetricsOfAnotherVersionAreLeftOutAndNamed) {
  Json json = Json::parse(write_json(testing::full_report()));
  for (auto& row : json["errors"]["layers"]) {
    row["metrics"]["charm"] = {{"value", 1}, {"origin", "measured"}};
  }
  const Report read = read_report(json.dump(), "r.json");
  EXPECT_EQ(read.model.notes.back(),
            "Metrics that this version doesn't know were left out: charm.");
}

TEST(ReportReader, APlanIsAReportOfAPlan) {
  const Plan plan = *testing::full_report().plan;
  const Report read = read_report_or_plan(write_plan(plan), "p.json");
  ASSERT_TRUE(read.plan);
  EXPECT_EQ(write_plan(*read.plan), write_plan(plan));
  EXPECT_EQ(read.model.sha256, plan.model.sha256);
  EXPECT_FALSE(read.trace || read.errors || read.verification);
}

TEST(ReportReader, RefusalsNameThePlace) {
  EXPECT_THAT(refusal("{"), HasSubstr("r.json is no JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("should be an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("the key 'schema' is missing"));
  EXPECT_THAT(refusal(R"({"schema": "other.v1"})"), HasSubstr("'other.v1' is neither"));
  EXPECT_THAT(refusal_of([](Json& j) { j["trace"]["layers"][1]["kind"] = "fancy"; }),
              HasSubstr("r.json: trace.layers[1].kind: 'fancy' is none of linear, conv"));
  EXPECT_THAT(refusal_of([](Json& j) { j["errors"]["layers"][0].erase("scheme"); }),
              HasSubstr("errors.layers[0]: the key 'scheme' is missing"));
  EXPECT_THAT(refusal_of([](Json& j) { j["verification"]["more"] = 1; }),
              HasSubstr("verification: the key 'more' is unknown"));
  EXPECT_THAT(refusal_of([](Json& j) { j["run"]["interrupted"] = 0; }),
              HasSubstr("run.interrupted: should be true or false"));
  EXPECT_THAT(refusal_of([](Json& j) { j["model"]["seed"] = -1; }),
              HasSubstr("model.seed: should be an integer of 0 or more"));
}

}  // namespace
}  // namespace hot::reports
