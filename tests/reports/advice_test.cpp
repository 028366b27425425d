#include "reports/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "example.hpp"
#include "reports/markdown.hpp"
#include "reports/terminal.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Advice on a plan that passed with this speed-up (interval 0.1) and these saved bytes of 100.
std::string advice(double speedup, double saved) {
  Report report = testing::full_report();
  Metrics& total = report.verification->total;
  total = {};
  total.set("speedup", speedup, Origin::measured, 0.1);
  total.set("saved_bytes_exact", 100, Origin::measured);
  total.set("saved_bytes_plan", saved, Origin::measured);
  return advice_text(report);
}

TEST(Advice, FollowsFromSpeedAndMemory) {
  EXPECT_EQ(advice(2, 60),
            "Use the plan: it is faster here and keeps 40 % fewer bytes for "
            "backward.");
  EXPECT_EQ(advice(2, 100), "Use the plan: it is faster here.");
  EXPECT_THAT(advice(0.5, 60), StartsWith("Use the plan where memory is short, not for speed"));
  EXPECT_THAT(advice(0.95, 60), StartsWith("Use the plan where memory is short: it keeps 40 %"));
  EXPECT_THAT(advice(1.05, 60), HasSubstr("at about the same speed"));
  EXPECT_THAT(advice(1.05, 100), HasSubstr("neither time nor memory that can be told from noise"));
  EXPECT_THAT(advice(0.5, 120), HasSubstr("neither time nor memory"));
}

// A gradient that is 70 % off is what was planned, and no reason to say "use it".
TEST(Advice, WarnsOfGradientsThatAreFarOff) {
  Report report = testing::full_report();
  report.verification->total.set("gradient_error", 0.7, Origin::measured);
  EXPECT_THAT(advice_text(report), StartsWith("Don't train with this plan untried"));
  EXPECT_THAT(advice_text(report), HasSubstr("is off by 70 % (measured)"));
  EXPECT_EQ(verdict_of(report).tone, Tone::doubtful);
  report.verification->total.set("gradient_error", 0.1, Origin::measured);
  EXPECT_THAT(advice_text(report), StartsWith("Use the plan"));
  EXPECT_EQ(verdict_of(report).tone, Tone::good);
}

TEST(Advice, EveryStageAndOutcomeHasItsOwn) {
  std::set<std::string> texts;
  for (const Report& report : testing::reports_of_every_stage()) texts.insert(advice_text(report));
  EXPECT_EQ(texts.size(), 5U);
  Report report = testing::full_report();
  for (const Outcome outcome : {Outcome::incorrect, Outcome::slower, Outcome::unsupported}) {
    report.verification->outcome = outcome;
    EXPECT_TRUE(texts.insert(advice_text(report)).second);
  }
  report.plan->layers[0].grad_input = report.plan->layers[0].grad_weight = Scheme{};
  EXPECT_THAT(advice_text(report), StartsWith("Keep the exact backward pass"));
}

TEST(Advice, StandsInEveryReportForPeople) {
  const Report report = testing::full_report();
  EXPECT_THAT(write_terminal(report, {1000, false}), HasSubstr(advice_text(report)));
  EXPECT_THAT(write_markdown(report), HasSubstr("**" + advice_text(report) + "**"));
}

}  // namespace
}  // namespace hot::reports
