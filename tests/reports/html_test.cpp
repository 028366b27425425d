#include "reports/html.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example.hpp"
#include "reports/html_data.hpp"
#include "reports/html_text.hpp"
#include "reports/json_text.hpp"
#include "reports/key_findings.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The JSON that the page's script reads.
Json data_of(const std::string& html) {
  const std::string opening = "<script type=\"application/json\" id=\"data\">";
  const auto begin = html.find(opening) + opening.size();
  return Json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

/// A report of as many layers as a large model has, with all schemes of both gradients measured.
Report large_report(int layers, int schemes) {
  Report report = testing::full_report();
  const LayerVerification verified = report.verification->layers[0];
  const LayerPlan planned = report.plan->layers[0];
  const ErrorRow row = report.errors->rows[0];
  report.trace->layers.clear();
  report.errors->rows.clear();
  report.plan->layers.clear();
  report.verification->layers.clear();
  for (int i = 0; i < layers; ++i) {
    const std::string name = fmt::format("encoder.layers.{}.self_attention.projection", i);
    report.trace->layers.push_back(testing::layer(name));
    report.plan->layers.push_back(planned);
    report.plan->layers.back().name = name;
    report.verification->layers.push_back(verified);
    report.verification->layers.back().name = name;
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      for (int s = 0; s < schemes; ++s) {
        report.errors->rows.push_back(row);
        ErrorRow& added = report.errors->rows.back();
        added.layer = name;
        added.path = path;
        added.scheme = parse_scheme(fmt::format("low64r{}+int4/tensor/stochastic", s + 1));
        added.metrics.set("relative_error", 0.0123456 * (i + s), Origin::measured, 0.00123456);
      }
    }
  }
  return report;
}

/// Everything that the page draws, as large as it comes: a front, facts of every layer, and a step
/// timed and observed, exact and by the plan.
void draw_everything(Report& report) {
  report.run.set("gemm_flops_per_second", 4e11, Origin::measured);
  report.run.set("copy_bytes_per_second", 2e10, Origin::measured);
  for (int i = 0; i < 60; ++i)
    report.plan->front.push_back(
        {i < 30 ? "time" : "memory", "", 0.01 * i, 100.0 - i, 1e9 / (i + 1)});
  report.plan->front.push_back({"mark", "this plan", 0.1, 50, 1e8});
  MemoryComparison memory = *testing::full_profile().memory;
  memory.exact.timeline.assign(400, memory.exact.timeline[0]);
  memory.exact.saved.clear();
  TimeComparison time = *testing::full_profile().time;
  const LayerTimes times = time.exact.layers[0];
  time.exact.layers.clear();
  for (const LayerTrace& layer : report.trace->layers) {
    report.errors->facts.push_back({layer.name, testing::all_metrics()});
    memory.exact.saved.push_back({layer.name, 1'234'567, 2, 0, 1'234'567});
    time.exact.layers.push_back(times);
    time.exact.layers.back().name = layer.name;
  }
  memory.plan = memory.exact;
  time.plan = time.exact;
  report.profile.emplace().memory = memory;
  report.profile->time = time;
}

// What isn't known is null; places stand where both a time and the ceilings are known.
TEST(Html, ChartsTakeTheirNumbersFromTheReport) {
  Report report = testing::full_report();
  Json data = data_of(write_html(report));
  for (const char* chart : {"front", "memory", "roofline", "steps"})
    EXPECT_TRUE(data[chart].is_null()) << chart;
  draw_everything(report);
  report.profile->time.reset();
  data = data_of(write_html(report));
  EXPECT_EQ(data["front"].back(), Json({"mark", "this plan", 0.1, 50, 1e8}));
  EXPECT_EQ(data["memory"]["exact"]["timeline"][0], Json({500, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(data["memory"]["saved"][0], Json({"blocks.0.attn.qkv", 1'234'567, 1'234'567}));
  const LayerTrace& layer = report.trace->layers[0];
  ASSERT_EQ(data["roofline"]["places"].size(), 3U);  // the attention has no grad_weight
  const Json& place = data["roofline"]["places"][0];
  EXPECT_EQ(place[0], layer.name);
  EXPECT_NEAR(place[2].get<double>(), 2.0 * 1576 * 768 * 2304, 1e7);
  EXPECT_NEAR(place[3].get<double>(), 4.0 * (1576 * 2304 + 2304 * 768 + 1576 * 768), 1e4);
  EXPECT_EQ(place[4].get<double>(), report.errors->fact(layer.name, "exact_input_ms")->value);
  EXPECT_EQ(data["layers"][0]["facts"].size(), testing::all_metrics().all().size());
}

TEST(Html, LoadsNothing) {
  std::string html = write_html(testing::full_report());
  const std::string svg = "http://www.w3.org/2000/svg";  // a name, not an address
  const auto at = html.find(svg);
  ASSERT_NE(at, std::string::npos);
  html.erase(at, svg.size());
  for (const char* part : {"http:", "https:", "src=", "@import", "url(", "fetch(", "stylesheet"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(Html, LeadsWithVerdictAdviceNumbersAndFindings) {
  Report report = testing::full_report();
  Metrics& total = report.verification->total;
  total = {};
  total.set("speedup", 2.5, Origin::measured, 0.2);
  total.set("saved_bytes_exact", 30e6, Origin::measured);
  total.set("saved_bytes_plan", 12e6, Origin::modelled);
  total.set("gradient_error", 0.042, Origin::measured);
  const std::string html = write_html(report);
  const std::string head = html.substr(0, html.find("id=\"errors\""));
  for (const char* part :
       {"<h1>PASSED</h1>", "Use the plan: it is faster here and keeps 60 % fewer bytes", "2.50 ×",
        "95 % ± 0.2", "−60 %", "12.0 MB instead of 30.0 MB", "modelled", "4.2 %", "What matters",
        "1 of 2 layers are eligible"}) {
    EXPECT_THAT(head, HasSubstr(part));
  }
}

TEST(Html, EveryMetricOfTheWholeModelStandsWithItsOrigin) {
  Report report = testing::full_report();
  report.plan->predicted = {};
  const std::string html = write_html(report);
  const Metrics metrics = testing::all_metrics();
  for (const Metric& m : metrics.all()) {
    const std::string interval = m.ci95 ? "± " + value_text(*m.ci95, m.info->unit) : "";
    EXPECT_THAT(html,
                HasSubstr(fmt::format(
                    "<th scope=\"row\">{0}</th><td class=\"number\">{1}</td><td class=\"number\">"
                    "{2}</td><td><span class=\"origin {3}\">{3}</span>",
                    spaced(m.info->name), value_text(m.value, m.info->unit), interval,
                    to_string(m.origin))));
  }
}

TEST(Html, EveryMetricOfARowIsInItsData) {
  const Json data = data_of(write_html(testing::full_report()));
  const Metrics metrics = testing::all_metrics();
  const auto expect_all = [&](const Json& list) {
    ASSERT_EQ(list.size(), metrics.all().size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Metric& m = metrics.all()[i];
      EXPECT_EQ(data["metrics"][list[i][0].get<std::size_t>()][0], spaced(m.info->name));
      EXPECT_EQ(list[i][1].get<double>(), m.value);
      EXPECT_EQ(data["origins"][list[i][2].get<std::size_t>()], to_string(m.origin));
      EXPECT_EQ(list[i].size() > 3, m.ci95.has_value());
    }
  };
  ASSERT_EQ(data["rows"].size(), 2U);
  for (const auto& [key, row] : data["rows"].items()) expect_all(row);
  expect_all(data["layers"][0]["verified"]["metrics"]);
  expect_all(data["total"]);
  EXPECT_EQ(data["rows_left_out"], 0);
  EXPECT_EQ(data["layers"][1]["reason"], "a product of two activations stays exact");
  EXPECT_EQ(data["layers"][0]["paths"][0]["why"],
            "cheapest under relative error 0.1; next had16+int4/tensor/stochastic, cost +10 %");
}

// Issue: under 2 MiB for 200 layers. Picks keep their numbers, what is left out is counted.
TEST(Html, TwoHundredLayersStayBelowTwoMebibytes) {
  Report report = large_report(200, 60);
  for (LayerPlan& layer : report.plan->layers) {
    layer.grad_input = layer.grad_weight = parse_scheme("low64r60+int4/tensor/stochastic");
  }
  draw_everything(report);
  const std::string html = write_html(report);
  EXPECT_LT(html.size(), 2U << 20);
  const Json data = data_of(html);
  EXPECT_EQ(data["rows"].size() + data["rows_left_out"].get<std::size_t>(), 200U * 2 * 60);
  EXPECT_GT(data["rows_left_out"], 0);
  for (const int layer : {0, 199}) {
    for (const int path : {0, 1}) {
      const auto pick = data["layers"][layer]["paths"][path]["pick"].get<int>();
      EXPECT_TRUE(data["rows"].contains(fmt::format("{}.{}.{}", layer, path, pick)));
    }
  }
}

// No name can end a tag, an attribute or the script.
TEST(Html, NamesAreNoMarkup) {
  const std::string evil = "</script><img src=x onerror=alert(1)>\"'&";
  Report report = testing::full_report();
  report.model.path = evil;
  report.model.notes = {evil};
  report.trace->layers[0].name = evil;
  report.plan->layers[0].name = evil;
  report.verification->layers[0].name = evil;
  for (ErrorRow& row : report.errors->rows) row.layer = evil;
  const std::string html = write_html(report);
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_EQ(data_of(html)["layers"][0]["name"], evil);
  EXPECT_EQ(html_text("a<b>\"c'&\x01\xff"), "a&lt;b&gt;&quot;c&#39;&amp;?\xEF\xBF\xBD");
}

TEST(Html, StagesThatDidNotRunHaveNoSection) {
  const auto reports = testing::reports_of_every_stage();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const std::string html = write_html(reports[i]);
    EXPECT_EQ(html.find("id=\"layers\"") != std::string::npos, i >= 1) << i;
    EXPECT_EQ(html.find("id=\"errors\"") != std::string::npos, i >= 2) << i;
    EXPECT_EQ(html.find("id=\"costs\"") != std::string::npos, i >= 4) << i;
    for (const KeyFinding& finding : key_findings(reports[i])) {
      EXPECT_THAT(html, HasSubstr(fmt::format("id=\"{}\"", finding.section))) << finding.title;
    }
  }
}

/// Titles of the findings on a verified plan with this speed-up.
std::vector<std::string> titles(double speedup) {
  Report report = testing::full_report();
  report.verification->total.set("speedup", speedup, Origin::measured, 0.1);
  Metrics& layer = report.verification->layers[0].metrics;
  layer.set("speedup", speedup, Origin::measured, 0.1);
  layer.set("exact_ms", 10, Origin::measured);
  layer.set("plan_ms", 10 / speedup, Origin::measured);
  layer.set("saved_bytes_exact", 2000, Origin::measured);
  layer.set("saved_bytes_plan", 1000, Origin::measured);
  std::vector<std::string> result;
  for (const KeyFinding& finding : key_findings(report)) result.push_back(finding.title);
  return result;
}

TEST(KeyFindings, TimeComesFirstAsItWent) {
  EXPECT_EQ(titles(2), (std::vector<std::string>{"Where time is saved", "Where memory is saved",
                                                 "Largest error"}));
  EXPECT_EQ(titles(0.5), (std::vector<std::string>{"Layers that get slower",
                                                   "Where memory is saved", "Largest error"}));
}

TEST(KeyFindings, WhatFailedComesFirst) {
  Report report = testing::full_report();
  report.verification->layers[0].outcome = Outcome::incorrect;
  report.verification->layers[0].reason = "off by 0.3";
  const auto found = key_findings(report);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].sentence,
            "1 of 1 layers did not run as planned: blocks.0.attn.qkv. The first: off by 0.3.");
}

}  // namespace
}  // namespace hot::reports
