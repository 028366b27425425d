#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "example.hpp"
#include "reports/json_text.hpp"
#include "reports/training_formats.hpp"
#include "reports/training_text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two pairs of four steps; every metric that training sets.
Report trained() {
  Report report = testing::full_report();
  report.model.path = "models/<b>.pt";
  Training training;
  training.steps = 4;
  training.training_batches = 6;
  training.held_out_batches = 2;
  training.optimizer = "AdamW, rate 0.0001, weight decay 0";
  for (const std::uint64_t seed : {3U, 4U}) {
    TrainingPair pair;
    pair.seed = seed;
    pair.exact = {{1, 0.75, 0.5, 0.25}, 0.001, 0.5, 90.0};
    pair.plan = {{1, 0.75, 0.75, 0.5}, 0.002, 0.5, 89.5};
    pair.angles = {{0, 1.0}, {2, 0.5}};
    training.pairs.push_back(pair);
  }
  training.total = testing::all_metrics();
  training.total.set("accuracy_exact", 90, Origin::measured, 1);
  training.total.set("accuracy_plan", 89.5, Origin::measured, 1);
  training.total.set("accuracy_difference", -0.5, Origin::measured, 0.25);
  training.notes = {"a <note>"};
  report.training = training;
  return report;
}

TEST(TrainingVerdictTest, ComparesTheDifferenceWithItsInterval) {
  Training training = *trained().training;
  EXPECT_EQ(training_verdict(training).word, "WORSE THAN EXACT");
  EXPECT_THAT(training_verdict(training).sentence,
              HasSubstr("difference -0.5 points (measured, 95 % +-0.25 points, 2 seeds)"));
  training.total.set("accuracy_difference", -0.5, Origin::measured, 0.75);
  EXPECT_EQ(training_verdict(training).word, "NO DIFFERENCE BEYOND NOISE");
  training.total.set("accuracy_difference", 0.5, Origin::measured, 0.25);
  EXPECT_EQ(training_verdict(training).word, "BETTER THAN EXACT");
  training.total.set("accuracy_difference", 0.5, Origin::measured);
  EXPECT_EQ(training_verdict(training).word, "ONE PAIR OF RUNS");
  training.pairs.clear();
  EXPECT_EQ(training_verdict(training).word, "NOT TRAINED");
}

// Where accuracy isn't known, a lower loss is the better one.
TEST(TrainingVerdictTest, LossesGoTheOtherWay) {
  Training training = *trained().training;
  training.total = {};
  training.total.set("final_loss_exact", 1, Origin::measured);
  training.total.set("final_loss_plan", 0.5, Origin::measured);
  training.total.set("final_loss_difference", -0.5, Origin::measured, 0.25);
  EXPECT_EQ(training_verdict(training).word, "BETTER THAN EXACT");
  training.total.set("final_loss_difference", std::numeric_limits<double>::quiet_NaN(),
                     Origin::measured, 0.25);
  EXPECT_EQ(training_verdict(training).word, "DIVERGED");
}

// Accuracies are numbers even where every loss is none.
TEST(TrainingVerdictTest, DivergedRunsAreNoTie) {
  Training training = *trained().training;
  training.total.set("accuracy_difference", 0, Origin::measured, 0);
  training.total.set("final_loss_plan", std::numeric_limits<double>::quiet_NaN(), Origin::measured);
  EXPECT_EQ(training_verdict(training).word, "DIVERGED");
  EXPECT_THAT(training_verdict(training).sentence, HasSubstr("Trained by the plan, the loss"));
}

TEST(CurvePointsTest, AreMeansOverWindowsAndSeeds) {
  const auto points = curve_points(*trained().training, 2);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[1].step, 2);
  EXPECT_DOUBLE_EQ(points[1].exact, 0.375);
  EXPECT_DOUBLE_EQ(points[1].plan, 0.625);
  EXPECT_DOUBLE_EQ(points[1].cosine.value(), 0.5);
}

TEST(TrainingFormatsTest, EveryFormatHoldsEveryMetricButTheTableOfCurves) {
  const Report report = trained();
  for (const Format& format : training_formats()) {
    ASSERT_TRUE(format.can_write(report));
    EXPECT_FALSE(format.can_write(testing::full_report()));
    const std::string text = format.write(report, {});
    EXPECT_EQ(text.back(), '\n') << format.name;
    if (format.name == "csv") continue;
    for (const Metric& metric : report.training->total.all()) {
      std::string name(metric.info->name);
      if (format.name != "json") std::replace(name.begin(), name.end(), '_', ' ');
      EXPECT_THAT(text, HasSubstr(name)) << format.name;
    }
  }
}

TEST(TrainingFormatsTest, CsvHasARowForEverySeedAndStep) {
  EXPECT_EQ(write_training_csv(trained(), {}),
            "seed,step,loss_exact,loss_plan,gradient_cosine\n"
            "3,0,1,1,1\n3,1,0.75,0.75,\n3,2,0.5,0.75,0.5\n3,3,0.25,0.5,\n"
            "4,0,1,1,1\n4,1,0.75,0.75,\n4,2,0.5,0.75,0.5\n4,3,0.25,0.5,\n");
}

TEST(TrainingFormatsTest, HtmlLoadsNothingAndEscapes) {
  const std::string html = write_training_html(trained(), {});
  EXPECT_THAT(html, HasSubstr("a &lt;note&gt;"));
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;.pt"));
  EXPECT_THAT(html, Not(HasSubstr("http:")));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("WORSE THAN EXACT"));
  EXPECT_THAT(html, HasSubstr("aria-label=\"Training loss by step, exact and by the plan\""));
}

TEST(TrainingFormatsTest, LossesThatAreNoNumbersAreNullAndSaid) {
  Report report = trained();
  report.training->pairs[0].plan.losses[2] = std::numeric_limits<double>::infinity();
  const Json json = Json::parse(write_training_json(report, {}));
  EXPECT_TRUE(json["training"]["pairs"][0]["plan"]["losses"][2].is_null());
  EXPECT_FALSE(json["notes"].empty());
  EXPECT_THAT(write_training_html(report, {}), Not(HasSubstr("inf,")));
}

}  // namespace
}  // namespace hot::reports
