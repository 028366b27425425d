#include "reports/terminal.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include "example.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Text with every run of white space as one space, so that wrapping doesn't matter.
std::string flowing(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result += word + ' ';
  return result;
}

void expect_fits(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns(line), width) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

/// A report whose names, sentences and sizes are as long as they come.
Report awkward_report() {
  Report report = testing::full_report();
  const std::string name = "encoder." + std::string(120, 'l') + ".couché.mlp.fc1";
  report.model.path = "/" + std::string(200, 'p') + "/model.pt";
  report.trace->layers[0].name = name;
  report.trace->layers[0].work[1].gemms[0] = {100'000'000, 100'000'000, 100'000'000, 1000};
  report.trace->layers[0].work[1].gemms.push_back({1, 1, 1, 1});
  report.plan->layers[0].name = name;
  report.plan->layers[0].grad_weight =
      parse_scheme("low1024r1024.sequency+int8/column:column/stochastic");
  report.verification->layers[0].name = name;
  report.verification->layers[0].outcome = Outcome::incorrect;
  report.verification->layers[0].reason = std::string(300, 'r');
  report.verification->notes = {std::string(500, 'n') + " and words"};
  return report;
}

TEST(Terminal, NoLineIsLongerThanTheTerminal) {
  for (const std::size_t width : {60U, 80U, 100U, 160U}) {
    for (const Report& report :
         {testing::full_report(), awkward_report(), testing::reports_of_every_stage()[2]}) {
      expect_fits(write_terminal(report, {width, false}), width);
      expect_fits(write_trace_table(report, {width, false}), width);
    }
  }
  expect_fits(write_terminal(awkward_report(), {5, false}), kMinWidth);
}

TEST(Terminal, LeadsWithTheVerdict) {
  Report report = testing::full_report();
  report.verification->total = {};
  report.verification->total.set("speedup", 2.5, Origin::measured, 0.2);
  report.verification->total.set("saved_bytes_exact", 30e6, Origin::measured);
  report.verification->total.set("saved_bytes_plan", 12e6, Origin::modelled);
  report.verification->total.set("gradient_error", 0.042, Origin::measured);
  const std::string text = write_terminal(report, {});
  EXPECT_THAT(text, StartsWith("PASSED\n"));
  const std::string said = flowing(text);
  EXPECT_THAT(
      said,
      HasSubstr(
          "the planned layers' backward is 2.50 times as fast as exact (measured, 95 % +-0.2x)"));
  EXPECT_THAT(said, HasSubstr("saved bytes 12.0 MB instead of 30.0 MB, -60 % (modelled)"));
  EXPECT_THAT(said, HasSubstr("gradient error 0.042 (measured)"));
  EXPECT_THAT(said, HasSubstr("1 of 2 layers are eligible; the plan (policy auto) changes 2 of "
                              "their 2 gradients."));
}

TEST(Terminal, NoiseIsNoSpeed) {
  Report report = testing::full_report();
  const auto said = [&](double speedup) {
    report.verification->total.set("speedup", speedup, Origin::measured, 0.1);
    return flowing(write_terminal(report, {}));
  };
  EXPECT_THAT(said(0.95), HasSubstr("as fast as exact within the noise, 0.95 times (measured"));
  EXPECT_THAT(said(1.05), HasSubstr("as fast as exact within the noise, 1.05 times (measured"));
  EXPECT_THAT(said(0.8), HasSubstr("the planned layers' backward is slower, 0.80 times"));
  EXPECT_THAT(said(1.2), HasSubstr("the planned layers' backward is 1.20 times as fast as exact"));
}

TEST(Terminal, EveryOutcomeIsTheFirstWord) {
  Report report = testing::full_report();
  for (int i = 0; i <= static_cast<int>(Outcome::not_run); ++i) {
    report.verification->outcome = static_cast<Outcome>(i);
    report.verification->reason = "because of this";
    std::string word = to_string(static_cast<Outcome>(i));
    std::transform(word.begin(), word.end(), word.begin(), ::toupper);
    const std::string text = write_terminal(report, {});
    EXPECT_THAT(text, StartsWith(word + '\n'));
    EXPECT_THAT(text, HasSubstr("because of this"));
  }
}

TEST(Terminal, EveryStageHasItsOwnFirstLine) {
  std::set<std::string> first_lines;
  for (const Report& report : testing::reports_of_every_stage()) {
    const std::string text = write_terminal(report, {});
    first_lines.insert(text.substr(0, text.find('\n')));
  }
  EXPECT_EQ(first_lines.size(), testing::reports_of_every_stage().size());
}

// The printer knows no metric by name: each is there with its value and origin.
TEST(Terminal, EveryMetricOfTheWholeModelIsShown) {
  Report report = testing::full_report();
  report.plan->predicted = {};
  const Metrics metrics = testing::all_metrics();
  for (const Metric& metric : metrics.all()) {
    report.verification->total = {};
    report.verification->total.set(metric.info->name, metric.value, metric.origin, metric.ci95);
    std::string name(metric.info->name);
    std::replace(name.begin(), name.end(), '_', ' ');
    const std::string said = flowing(write_terminal(report, {160, false}));
    const std::string ci =
        metric.ci95 ? "+-" + value_text(*metric.ci95, metric.info->unit) + " " : "";
    EXPECT_THAT(
        said, HasSubstr(fmt::format("{} {} {}{}", name, value_text(metric.value, metric.info->unit),
                                    ci, to_string(metric.origin))));
  }
}

TEST(Terminal, ThePlanTableHasBothGradientsWithSchemeAndError) {
  const std::string said = flowing(write_terminal(testing::full_report(), {}));
  EXPECT_THAT(said, HasSubstr("input 1576x768x2304 had16+int4/row/stochastic"));
  EXPECT_THAT(said, HasSubstr("weight 2304x768x1576 low16r8.sequency+int8/tensor/nearest"));
  EXPECT_THAT(said, HasSubstr("Why, where nothing is said: "));
}

TEST(Terminal, EveryNoteIsASentenceOfTheFindings) {
  const std::string said = flowing(write_terminal(testing::full_report(), {}));
  for (const char* note :
       {"Half-precision parameters were converted to float32.", "The loss reaches every layer.",
        "It is used in two places. (blocks.0.attn.qkv)", "One gradient was compared in part.",
        "Not eligible: a product of two activations stays exact (blocks.0.attn)",
        "The exact run was repeated three times."}) {
    EXPECT_THAT(said, HasSubstr(note));
  }
  EXPECT_THAT(said, Not(HasSubstr("another file")));
}

TEST(Terminal, SaysThatAPlanCameFromAnotherFile) {
  Report report = testing::full_report();
  report.plan->model.sha256 = "other";
  EXPECT_THAT(flowing(write_terminal(report, {})), HasSubstr("made for another file"));
}

TEST(Terminal, SameNoteOfManyLayersStandsOnce) {
  Report report = testing::full_report();
  report.trace->layers.clear();
  for (int i = 0; i < 9; ++i) {
    report.trace->layers.push_back(testing::layer(fmt::format("l{}", i)));
    report.trace->layers.back().notes = {"Its gradient is exactly zero."};
  }
  EXPECT_THAT(flowing(write_terminal(report, {})),
              HasSubstr("Its gradient is exactly zero. (9 layers: l0, l1, l2, l3 and 5 more)"));
}

TEST(Terminal, LayersThatFailedAreShownWithTheirCounts) {
  Report report = testing::full_report();
  report.verification->outcome = Outcome::incorrect;
  report.verification->layers[0].outcome = Outcome::incorrect;
  report.verification->layers[0].kernel_calls = 1;
  report.verification->layers[0].reason = "the weight gradient is off by 0.3";
  const std::string said = flowing(write_terminal(report, {}));
  EXPECT_THAT(said, HasSubstr("incorrect 1/2"));
  EXPECT_THAT(said, HasSubstr("the weight gradient is off by 0.3"));
  EXPECT_THAT(said, Not(HasSubstr("planned layers passed")));
}

TEST(Terminal, ColoursOnlyOnRequest) {
  EXPECT_THAT(write_terminal(awkward_report(), {100, false}), Not(HasSubstr("\x1b")));
  Report report = testing::full_report();
  report.verification->total.set("gradient_error", 0.1, Origin::measured);
  EXPECT_THAT(write_terminal(report, {100, true}), StartsWith("\x1b[1;32mPASSED\x1b[0m"));
}

TEST(Terminal, RunsWithoutAPlanShowTheLowestErrors) {
  Report report = testing::reports_of_every_stage()[2];
  report.errors->rows[0].metrics.set("relative_error", 0.3, Origin::measured);
  report.errors->rows.push_back(report.errors->rows[0]);
  report.errors->rows.back().scheme = parse_scheme("had32+int4/row/stochastic");
  report.errors->rows.back().metrics.set("relative_error", 0.25, Origin::measured);
  const std::string said = flowing(write_terminal(report, {}));
  EXPECT_THAT(said, HasSubstr("layer gradient float int8 int4"));
  EXPECT_THAT(said, HasSubstr("blocks.0.attn.qkv input - - 0.25"));
}

TEST(TraceTable, ShowsEveryProductOfEveryLayer) {
  const std::string said = flowing(write_trace_table(testing::full_report(), {}));
  EXPECT_THAT(said, HasSubstr("blocks.0.attn.qkv forward 1576x2304x768 1 5.58 GFLOP"));
  EXPECT_THAT(said, HasSubstr("linear 2304x768, 1 call grad_input 1576x768x2304 1 5.58 GFLOP"));
  EXPECT_THAT(said, HasSubstr("saves 4.84 MB grad_weight 2304x768x1576 1 5.58 GFLOP"));
  EXPECT_THAT(said, HasSubstr("not eligible: a product of two activations stays exact"));
  EXPECT_THAT(said, HasSubstr("also called shared.weight"));
  EXPECT_THAT(said, HasSubstr("30.0 MB saved for backward"));
  EXPECT_THAT(said, HasSubstr("x float32 8x3x224x224 (traced_inputs.pkl)"));
}

}  // namespace
}  // namespace hot::reports
