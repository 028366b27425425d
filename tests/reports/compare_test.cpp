#include "reports/compare.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "example.hpp"
#include "reports/compare_formats.hpp"
#include "reports/compare_text.hpp"
#include "reports/json_text.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Metric metric(const char* name, double value, std::optional<double> ci95 = std::nullopt) {
  return {&metric_info(name), value, Origin::measured, ci95};
}

Change change(const Metric& a, const Metric& b, const Noise& noise = {}) {
  return difference_of(a, b, {0.01}, noise).change;
}

Comparison compared(const Report& a, const Report& b) {
  return compare(a, "a.json", b, "b.json");
}

Report with_error(double error, std::optional<double> ci95 = std::nullopt) {
  Report report = testing::full_report();
  report.verification->total = {};
  report.verification->total.set("gradient_error", error, Origin::measured, ci95);
  return report;
}

TEST(Difference, DirectionIsTheMetrics) {
  EXPECT_EQ(change(metric("gradient_error", 0.1), metric("gradient_error", 0.2)), Change::worse);
  EXPECT_EQ(change(metric("gradient_error", 0.2), metric("gradient_error", 0.1)), Change::better);
  EXPECT_EQ(change(metric("gradient_cosine", 0.5), metric("gradient_cosine", 0.9)), Change::better);
  EXPECT_EQ(change(metric("gradient_cosine", 0.9), metric("gradient_cosine", 0.5)), Change::worse);
}

// |b - a| = 10 against intervals of 6 and 8, which add up to 10; then of 6 and 7, to 9.2.
TEST(Difference, NoiseIsNoChange) {
  EXPECT_EQ(change(metric("plan_ms", 100, 6), metric("plan_ms", 110, 8)), Change::unclear);
  EXPECT_EQ(change(metric("plan_ms", 100, 6), metric("plan_ms", 110, 7)), Change::worse);
  EXPECT_EQ(change(metric("plan_ms", 110, 6), metric("plan_ms", 100, 7)), Change::better);
}

TEST(Difference, WithinTheToleranceIsTheSameIfItsIntervalIsNarrow) {
  EXPECT_EQ(change(metric("plan_ms", 100, 0.5), metric("plan_ms", 100.9, 0.5)), Change::same);
  EXPECT_EQ(change(metric("plan_ms", 100, 20), metric("plan_ms", 100.9, 20)), Change::unclear);
  EXPECT_EQ(change(metric("plan_ms", 100, 20), metric("plan_ms", 100, 20)), Change::same);
  EXPECT_EQ(change(metric("gradient_error", 0), metric("gradient_error", 0)), Change::same);
}

// A time without an interval may be off by anything; an error is what the same draw gives again.
TEST(Difference, WithoutAnIntervalItDependsOnTheKind) {
  EXPECT_EQ(change(metric("plan_ms", 100), metric("plan_ms", 200)), Change::unclear);
  EXPECT_EQ(change(metric("speedup", 1), metric("speedup", 2)), Change::unclear);
  const Noise other_draw{false, 0, 1};
  EXPECT_EQ(change(metric("gradient_error", 0.1), metric("gradient_error", 0.2), other_draw),
            Change::unclear);
  Metric modelled = metric("cost", 0.4);
  modelled.origin = Origin::modelled;
  EXPECT_EQ(change(metric("cost", 0.4), metric("cost", 0.4), other_draw), Change::same);
  Metric dearer = modelled;
  dearer.value = 0.6;
  EXPECT_EQ(change(modelled, dearer, other_draw), Change::worse);
}

// 10 % more where the exact pass alone took 12 % more; a ratio of two times of one run stays.
TEST(Difference, TimesMustExceedTheDriftOfTheMachine) {
  const Noise drift{true, 0.12, 1};
  EXPECT_EQ(change(metric("plan_ms", 100, 1), metric("plan_ms", 110, 1), drift), Change::unclear);
  EXPECT_EQ(change(metric("plan_ms", 100, 1), metric("plan_ms", 120, 1), drift), Change::worse);
  EXPECT_EQ(change(metric("speedup", 1.0, 0.01), metric("speedup", 1.1, 0.01), drift),
            Change::better);
}

// Of 400 numbers that differ by 1.5 of their intervals some do so by chance.
TEST(Difference, ManyNumbersNeedMore) {
  const Noise many{true, 0, 400};
  EXPECT_EQ(change(metric("plan_ms", 100, 10), metric("plan_ms", 120, 10)), Change::worse);
  EXPECT_EQ(change(metric("plan_ms", 100, 10), metric("plan_ms", 120, 10), many), Change::unclear);
  EXPECT_EQ(change(metric("plan_ms", 100, 10), metric("plan_ms", 140, 10), many), Change::worse);
}

TEST(Compare, AReportWithItselfIsTheSame) {
  for (const Report& report : testing::reports_of_every_stage()) {
    const Comparison c = compared(report, report);
    EXPECT_EQ(c.count(Change::same), c.whole.size());
    EXPECT_TRUE(c.picks.empty());
    EXPECT_EQ(c.notes.size(), report.interrupted ? 2U : 0U);
    EXPECT_TRUE(changed_layers(c).empty());
  }
  const Comparison c = compared(testing::full_report(), testing::full_report());
  EXPECT_EQ(overall(c), "same");
  EXPECT_EQ(c.gradients, 2U);
  for (const Difference& d : c.whole) EXPECT_NE(d.info().better, Better::neither);
}

TEST(Compare, ChangedPicksStandWithBothErrors) {
  const Report a = testing::full_report();
  Report b = a;
  b.plan->layers[0].grad_input = Scheme{};
  b.plan->layers.push_back({"new", {4, 4}, Scheme{}, Scheme{}, {}, {}});
  const Comparison c = compared(a, b);
  ASSERT_EQ(c.picks.size(), 3U);
  EXPECT_EQ(c.picks[0].layer, "blocks.0.attn.qkv");
  EXPECT_EQ(c.picks[0].a, "had16+int4/row/stochastic");
  EXPECT_EQ(c.picks[0].b, "exact");
  ASSERT_TRUE(c.picks[0].error);
  EXPECT_EQ(c.picks[0].error->b.value, 0);
  EXPECT_EQ(c.picks[0].error->change, Change::better);
  EXPECT_EQ(c.picks[1].a, "");
  EXPECT_EQ(c.picks[1].b, "exact");
  EXPECT_EQ(picks_text(c), "1 of 2 gradients have another scheme, 2 stand in one plan alone");
}

TEST(Compare, SaysWhatElseDiffers) {
  const Report a = testing::full_report();
  Report b = a;
  b.environment.cpu = "Another CPU";
  b.model.seed = 8;
  b.model.sha256 = "other";
  b.plan->policy = "hot";
  b.verification->total.set("repeats", 99, Origin::measured);
  EXPECT_THAT(compared(a, b).notes,
              ::testing::IsSupersetOf({std::string("CPU: Some CPU in A, Another CPU in B"),
                                       std::string("seed: 7 in A, 8 in B"),
                                       std::string("A and B are of different model files"),
                                       std::string("policy: auto in A, hot in B")}));
}

TEST(FailOn, PercentMeansAChangeBeyondItsNoise) {
  const auto failed = [](const char* condition, double b, std::optional<double> ci95) {
    return check(parse_fail_on(condition), compared(with_error(0.1, ci95), with_error(b, ci95)))
        .failed;
  };
  EXPECT_FALSE(failed("error>5%", 0.104, std::nullopt));
  EXPECT_TRUE(failed("error>5%", 0.106, std::nullopt));
  EXPECT_FALSE(failed("error > 5 %", 0.106, 0.02)) << "within its noise";
  EXPECT_TRUE(failed("gradient_error<-5%", 0.09, std::nullopt));
  EXPECT_FALSE(failed("error<-5%", 0.11, std::nullopt));
}

TEST(FailOn, WithoutPercentItIsBsOwnNumber) {
  const auto failed = [](const char* condition, double b, std::optional<double> ci95) {
    return check(parse_fail_on(condition), compared(with_error(9, ci95), with_error(b, ci95)))
        .failed;
  };
  EXPECT_TRUE(failed("error>0.1", 0.11, std::nullopt));
  EXPECT_FALSE(failed("error>0.1", 0.11, 0.02)) << "its interval holds the limit";
  EXPECT_TRUE(failed("error<0.1", 0.09, std::nullopt));
}

TEST(FailOn, PicksAndWorse) {
  const Report a = testing::full_report();
  Report b = a;
  b.plan->layers[0].grad_input = Scheme{};
  EXPECT_TRUE(check(parse_fail_on("picks>0"), compared(a, b)).failed);
  EXPECT_FALSE(check(parse_fail_on("picks>1"), compared(a, b)).failed);
  EXPECT_FALSE(check(parse_fail_on("worse"), compared(a, b)).failed);
  const Check worse = check(parse_fail_on("worse"), compared(with_error(0.1), with_error(0.2)));
  EXPECT_TRUE(worse.failed);
  EXPECT_EQ(worse.reason, "gradient_error");
}

// For plans that nobody verified, what was predicted takes the place of what was measured.
TEST(FailOn, NamesFallBackOnThePrediction) {
  Report a = testing::full_report();
  a.verification.reset();
  a.plan->predicted = {};
  a.plan->predicted.set("cost", 0.5, Origin::modelled);
  EXPECT_THAT(check(parse_fail_on("time>3%"), compared(a, a)).reason, StartsWith("cost "));
  Report empty = a;
  empty.plan.reset();
  try {
    (void)check(parse_fail_on("time>3%"), compared(a, empty));
    FAIL() << "a condition that can't be checked passed";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("don't both have plan_ms or cost"));
  }
}

TEST(FailOn, RefusesWhatItCannotRead) {
  for (const char* text : {"", "error", "error>", "error>x", "beauty>1", "picks>3%", "repeats>1",
                           "error>5%%", "error>=5%"}) {
    EXPECT_THROW((void)parse_fail_on(text), UsageError) << text;
  }
}

TEST(ComparisonFormats, AllShowEveryNumberOfTheWholeModel) {
  const Report a = testing::full_report();
  Report b = a;
  b.plan->layers[0].grad_input = Scheme{};
  const Metrics metrics = testing::all_metrics();
  for (const Metric& m : metrics.all()) {
    b.verification->total.set(m.info->name, 2 * m.value, m.origin, m.ci95);
  }
  const Comparison c = compared(a, b);
  const std::vector<Check> checks = {check(parse_fail_on("picks>0"), c)};
  for (const ComparisonFormat& format : comparison_formats()) {
    const std::string text = format.write(c, checks, {140, false});
    EXPECT_EQ(text.back(), '\n');
    for (const char* part : {"a.json", "b.json", "picks>0", "had16+int4/row/stochastic"}) {
      EXPECT_THAT(text, HasSubstr(part)) << format.name;
    }
    for (const Difference& d : c.whole) {
      const std::string name(d.info().name);
      EXPECT_THAT(text, HasSubstr(format.name == "json" ? name : spaced(name))) << format.name;
      EXPECT_THAT(text, HasSubstr(to_string(d.change)));
    }
  }
}

TEST(ComparisonFormats, TerminalLinesFit) {
  const Report a = testing::full_report();
  Report b = a;
  b.plan->layers[0].grad_input = Scheme{};
  const std::string text = write_comparison(compared(a, b), {}, {80, false});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(columns(text.substr(begin, end - begin)), 80U) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace hot::reports
