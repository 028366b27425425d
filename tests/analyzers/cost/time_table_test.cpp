// Times alone are kept on disk, so that two tables of one device start from the same ones.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "analyzers/cost/cost.hpp"
#include "analyzers/measure/measure.hpp"
#include "analyzers/trace/trace.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::cost {
namespace {

using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;

class TimeTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("hot_time_table_test." + std::to_string(getpid()));
    setenv("HOT_CACHE_DIR", folder_.c_str(), 1);
    StepFacts facts(model_, trace_, {int8_}, 0);
    measured_ = measure::measure(
        model_, inputs_, loss_, trace_, {.schemes = {int8_}}, nullptr,
        {[&] { facts.between(); }, [&](const backward::Operands& o) { facts.add(o); },
         [&](const models::StepResult& step) { facts.end(step); }});
    geometries_ = facts.finish(inputs_.batches.front(), loss_, 0, measured_);
    options_.device = "a machine of this test";
    options_.seconds = 1000;
    (void)begun({});  // fills the cache
  }
  void TearDown() override {
    unsetenv("HOT_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }

  ErrorTable begun(const std::map<std::string, double>& in_the_model) {
    ErrorTable table = measured_;
    TimeTable times(trace_, geometries_, options_, table);
    times.begin(in_the_model, nullptr);
    times.end(nullptr);
    return table;
  }

  static double exact_ms(const ErrorTable& table, const std::string& layer) {
    double ms = 0;
    for (const char* name : {"exact_input_ms", "exact_weight_ms"}) {
      if (const Metric* m = table.fact(layer, name)) ms += m->value;
    }
    return ms;
  }

  const Scheme int8_ = parse_scheme("none+int8/tensor");
  const models::Model model_ = mixed_model();
  const models::Inputs inputs_ = mixed_inputs();
  const models::Loss loss_ = output_loss(model_, inputs_);
  const Trace trace_ = trace::trace(model_, inputs_, loss_, 0, nullptr);
  ErrorTable measured_;
  Geometries geometries_;
  Options options_;
  std::filesystem::path folder_;
};

// One layer takes twice as long in the model as alone, all others thrice: exact times are those,
// and the schemes' go with the sum of all.
TEST_F(TimeTableTest, ExactTimesAreTheModelsAndSchemesGoWithThem) {
  const ErrorTable alone = begun({});
  std::map<std::string, double> in_the_model;
  double sum_alone = 0, sum = 0;
  for (const LayerFacts& facts : alone.facts) {
    const double ms = exact_ms(alone, facts.layer);
    ASSERT_GT(ms, 0) << facts.layer;
    in_the_model[facts.layer] = (in_the_model.empty() ? 2 : 3) * ms;
    sum_alone += ms;
    sum += in_the_model[facts.layer];
  }
  ASSERT_GT(in_the_model.size(), 2U);
  const ErrorTable table = begun(in_the_model);
  for (const auto& [layer, ms] : in_the_model)
    EXPECT_NEAR(exact_ms(table, layer), ms, 1e-6 * ms) << layer;
  ASSERT_EQ(table.rows.size(), alone.rows.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double before = alone.rows[i].metrics.value("time_ms");
    EXPECT_NEAR(table.rows[i].metrics.value("time_ms"), before * sum / sum_alone, 1e-6 * before)
        << table.rows[i].layer;
  }
}

// What a running step of the plan took is what the plan is predicted to take from then on.
TEST_F(TimeTableTest, SchemesTakeWhatTheirPlanTookInTheModel) {
  ErrorTable table = measured_;
  TimeTable times(trace_, geometries_, options_, table);
  times.begin({}, nullptr);
  Plan plan;
  std::map<std::string, double> exact, by_scheme;
  for (const LayerFacts& facts : table.facts) {
    exact[facts.layer] = exact_ms(table, facts.layer);
    LayerPlan layer;
    layer.name = facts.layer;
    layer.grad_weight = int8_;  // grad_input stays exact
    plan.layers.push_back(layer);
    by_scheme[facts.layer] =
        table.find(facts.layer, Path::grad_weight, int8_)->metrics.value("time_ms");
  }
  std::map<std::string, double> in_the_model;
  for (const auto& [layer, ms] : by_scheme) {
    const Metric* input = table.fact(layer, "exact_input_ms");
    in_the_model[layer] = (input == nullptr ? 0 : input->value) + 1.5 * ms;
  }
  ASSERT_TRUE(times.calibrate(plan, in_the_model));
  for (const auto& [layer, ms] : by_scheme) {
    EXPECT_NEAR(table.find(layer, Path::grad_weight, int8_)->metrics.value("time_ms"), 1.5 * ms,
                1e-6 * ms);
    EXPECT_DOUBLE_EQ(exact_ms(table, layer), exact[layer]);
  }
  EXPECT_FALSE(times.calibrate(Plan{}, in_the_model));
}

}  // namespace
}  // namespace hot::cost
