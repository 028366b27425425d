#include "reports/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "example.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {
namespace {

Json written(const Report& report) {
  return Json::parse(write_json(report));
}

void expect_all_metrics(const Json& object) {
  const Metrics metrics = testing::all_metrics();
  for (const Metric& metric : metrics.all()) {
    const std::string name(metric.info->name);
    ASSERT_TRUE(object.contains(name)) << name;
    EXPECT_EQ(object[name]["value"].get<double>(), metric.value) << name;
    EXPECT_EQ(object[name]["origin"], to_string(metric.origin)) << name;
    EXPECT_EQ(object[name].contains("ci95"), metric.ci95.has_value()) << name;
  }
}

// The printer knows no metric by name, so a new one is in every place.
TEST(Json, EveryMetricStandsWithItsOrigin) {
  const Json json = written(testing::full_report());
  expect_all_metrics(json["errors"]["layers"][0]["metrics"]);
  expect_all_metrics(json["plan"]["predicted"]);
  expect_all_metrics(json["verification"]["total"]);
  expect_all_metrics(json["verification"]["layers"][0]["metrics"]);
  for (const MetricInfo& info : metric_infos()) {
    EXPECT_EQ(json["metrics"][std::string(info.name)]["unit"], info.unit);
    EXPECT_EQ(json["metrics"][std::string(info.name)]["description"], info.description);
  }
}

TEST(Json, HoldsWhatTheReportHolds) {
  const Json json = written(testing::full_report());
  EXPECT_EQ(json["schema"], "hot-analyze.report.v1");
  EXPECT_EQ(json["tool"]["version"], "0.1.0");
  EXPECT_EQ(json["model"]["seed"], 7);
  EXPECT_EQ(json["run"]["metrics"]["run_to_step_ratio"]["value"], 50);
  EXPECT_EQ(json["run"]["metrics"]["run_to_step_memory"]["origin"], "measured");
  const Json& layer = json["trace"]["layers"][0];
  EXPECT_EQ(layer["gemms"]["grad_weight"]["shapes"][0],
            (Json{{"m", 2304}, {"n", 768}, {"k", 1576}, {"batch", 1}}));
  EXPECT_EQ(layer["gemms"]["grad_weight"]["flops"], 2LL * 2304 * 768 * 1576);
  EXPECT_EQ(json["trace"]["layers"][1]["reason"], "a product of two activations stays exact");
  EXPECT_EQ(json["errors"]["layers"][1]["execution"], "simulated");
  EXPECT_EQ(json["errors"]["lqs"][0]["choice"], "row");
  EXPECT_EQ(json["plan"]["layers"][0]["grad_input"], "had16+int4/row/stochastic");
  EXPECT_EQ(json["plan"]["layers"][0]["why"]["grad_input"]["margin"], 0.1);
  EXPECT_EQ(json["verification"]["outcome"], "passed");
  EXPECT_TRUE(json["notes"].empty());
}

TEST(Json, StagesThatDidNotRunAreLeftOut) {
  const auto reports = testing::reports_of_every_stage();
  const std::vector<std::string> stages = {"trace", "errors", "plan", "verification"};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Json json = written(reports[i]);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      EXPECT_EQ(json.contains(stages[s]), s < i) << i << ' ' << stages[s];
    }
  }
}

TEST(Json, NumbersThatAreNotFiniteBecomeNullAndASentence) {
  Report report = testing::full_report();
  report.trace->loss = std::numeric_limits<double>::quiet_NaN();
  report.verification->total.set("speedup", std::numeric_limits<double>::infinity(),
                                 Origin::measured);
  const Json json = written(report);
  EXPECT_TRUE(json["trace"]["loss"].is_null());
  EXPECT_TRUE(json["verification"]["total"]["speedup"]["value"].is_null());
  ASSERT_EQ(json["notes"].size(), 2U);
  EXPECT_EQ(json["notes"][0], "loss is not a number and written as null");
  EXPECT_EQ(json["notes"][1], "verification total speedup is infinite and written as null");
}

TEST(Json, ManyNumbersThatAreNotFiniteStayReadable) {
  Report report = testing::full_report();
  const ErrorRow row = report.errors->rows[0];
  report.errors->rows.assign(1000, row);
  for (ErrorRow& r : report.errors->rows) {
    r.metrics.set("cosine", std::numeric_limits<double>::quiet_NaN(), Origin::measured);
  }
  const Json json = written(report);
  EXPECT_EQ(json["notes"].size(), 21U);
  EXPECT_EQ(json["notes"][20], "980 more numbers are not finite and written as null");
}

TEST(Json, BytesThatAreNoUtf8DoNotStopIt) {
  Report report = testing::full_report();
  report.model.path =
      "mod\xff"
      "el.pt";
  EXPECT_EQ(written(report)["model"]["path"],
            "mod\xEF\xBF\xBD"
            "el.pt");
}

TEST(JsonText, IsWhatItWasAndFitsWhereItCan) {
  const Json json = written(testing::full_report());
  EXPECT_EQ(Json::parse(json_text(json)), json);
  std::istringstream lines(json_text(json["errors"]));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_EQ(json_text(Json{{"a", {1, 2}}, {"b", nullptr}}), "{\"a\": [1, 2], \"b\": null}\n");
  EXPECT_EQ(json_text(Json::array()), "[]\n");
  EXPECT_EQ(json_text(Json::array({std::string(98, 'x'), 1})),
            "[\n  \"" + std::string(98, 'x') + "\",\n  1\n]\n");
}

}  // namespace
}  // namespace hot::reports
