#include "analyzers/select/optimize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/errors.hpp"
#include "tests/analyzers/select/fixture.hpp"

namespace hot::select {
namespace {

using ::testing::HasSubstr;
using testing::linear;
using testing::row;

/// Layers of 10 ms a gradient; int8 takes 4 ms at error 0.01, int4 2 ms at error 0.2. Every
/// gradient carries a quarter of the whole one, grad_input of the first layer all of it.
struct Case {
  Trace trace;
  ErrorTable errors;

  Case() {
    trace.layers = {linear("a"), linear("b")};
    trace.saved_bytes = 1000;
    for (const char* layer : {"a", "b"}) {
      LayerFacts facts{layer, {}};
      facts.metrics.set("exact_input_ms", 10, Origin::measured);
      facts.metrics.set("exact_weight_ms", 10, Origin::measured);
      facts.metrics.set("input_share", layer[0] == 'a' ? 1 : 0.25, Origin::modelled);
      facts.metrics.set("weight_share", 0.25, Origin::measured);
      errors.facts.push_back(facts);
      errors.activations.push_back({400, {layer}, false});
      for (const Path path : {Path::grad_input, Path::grad_weight}) {
        add(layer, path, "none+int8", 0.01, 4);
        add(layer, path, "none+int4", 0.2, 2);
      }
    }
  }

  void add(const char* layer, Path path, const char* scheme, double error, double ms) {
    ErrorRow r = row(layer, path, scheme, error);
    r.metrics.set("time_ms", ms, Origin::measured);
    if (path == Path::grad_weight) r.metrics.set("kept_bytes", 100, Origin::measured);
    errors.rows.push_back(r);
  }
};

Options options(const std::string& error, const std::string& time = "",
                const std::string& memory = "") {
  Options o;
  o.max_error = parse_error_budget(error);
  if (!time.empty()) o.time_budget = parse_time_budget(time);
  if (!memory.empty()) o.memory_budget = parse_memory_budget(memory);
  return o;
}

Plan plan_of(const Case& c, const Options& o, const Correction* correction = nullptr) {
  return select(c.trace, c.errors, {"abc", 7}, o, correction);
}

std::string refusal(const Case& c, const Options& o) {
  try {
    (void)plan_of(c, o);
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

// int4 in three gradients of share 0.25 makes √(0.75·0.04 + 1·0.0001) = 0.1735 with int8 in a's
// grad_input; in all four √(1.75·0.04) = 0.2646.
TEST(Optimize, TakesTheFastestPlanUnderTheWholeError) {
  const Plan plan = plan_of(Case{}, options("0.174"));
  EXPECT_EQ(to_string(plan.layers[0].grad_input), "none+int8/tensor/nearest");
  EXPECT_EQ(to_string(plan.layers[0].grad_weight), "none+int4/tensor/nearest");
  EXPECT_EQ(to_string(plan.layers[1].grad_input), "none+int4/tensor/nearest");
  EXPECT_EQ(to_string(plan.layers[1].grad_weight), "none+int4/tensor/nearest");
  EXPECT_NEAR(plan.predicted.value("predicted_error"), std::sqrt(0.75 * 0.04 + 0.0001), 1e-12);
  EXPECT_NEAR(plan.predicted.value("predicted_ms"), 10, 1e-9);
  EXPECT_NEAR(plan.predicted.value("predicted_exact_ms"), 40, 1e-9);
  EXPECT_NEAR(plan.predicted.value("predicted_saved_bytes"), 400, 1e-9);
  const Plan all = plan_of(Case{}, options("0.265"));
  EXPECT_EQ(to_string(all.layers[0].grad_input), "none+int4/tensor/nearest");
}

TEST(Optimize, SaysWhyAndWhatCameNext) {
  const Plan plan = plan_of(Case{}, options("0.174"));
  const Why& why = plan.layers[0].why_grad_input;
  EXPECT_THAT(why.constraint, HasSubstr("--max-error binds: none+int4/tensor/nearest would take "
                                        "the whole error from 0.173 to 0.265"));
  EXPECT_EQ(why.runner_up, "exact");
  EXPECT_GT(why.margin, 0);
  const Plan free = plan_of(Case{}, options("0.9"));
  EXPECT_THAT(free.layers[0].why_grad_input.constraint, HasSubstr("no limit bars another"));
  EXPECT_EQ(free.layers[0].why_grad_input.runner_up, "none+int8/tensor/nearest");
}

TEST(Optimize, ATimeBudgetAsksForTheLeastError) {
  // 40 ms exact; 28 ms is enough with int8 in two gradients, none of them a's grad_input.
  const Plan plan = plan_of(Case{}, options("0.9", "70%"));
  EXPECT_TRUE(plan.layers[0].grad_input.is_exact());
  EXPECT_LE(plan.predicted.value("predicted_ms"), 28);
  EXPECT_NEAR(plan.predicted.value("predicted_error"), std::sqrt(0.5) * 0.01, 1e-9);
}

TEST(Optimize, AMemoryBudgetBindsWhatIsStored) {
  Case c;
  for (ErrorRow& r : c.errors.rows) r.metrics.set("time_ms", 50, Origin::measured);
  const Plan free = plan_of(c, options("0.9"));
  EXPECT_TRUE(free.all_exact());
  EXPECT_THAT(free.layers[0].why_grad_weight.constraint, HasSubstr("exact is the fastest"));
  const Plan tight = plan_of(c, options("0.9", "", "70%"));  // one activation has to go
  EXPECT_NEAR(tight.predicted.value("predicted_saved_bytes"), 700, 1e-9);
  EXPECT_NE(tight.layers[0].grad_weight.is_exact(), tight.layers[1].grad_weight.is_exact());
  EXPECT_TRUE(tight.layers[0].grad_input.is_exact());
}

TEST(Optimize, NamesTheLimitThatBindsAndTheLeastThatWouldDo) {
  EXPECT_THAT(refusal({}, options("0.9", "", "30%")),
              HasSubstr("--memory-budget 30% = 0.0003 MB: the least that any plan reaches is "
                        "--memory-budget 0.0004MB (40% of exact)"));
  EXPECT_THAT(refusal({}, options("0.9", "5ms")), HasSubstr("--time-budget 8ms (20% of exact)"));
  EXPECT_THAT(refusal({}, options("0.01", "10ms")), HasSubstr("together. --max-error 0.01"));
  EXPECT_THAT(refusal({}, options("0.5sigma")), HasSubstr("--batches 2"));
}

TEST(Optimize, SigmaIsTheMinibatchNoise) {
  Case c;
  c.errors.whole.set("minibatch_noise", 0.348, Origin::measured);
  const Plan plan = plan_of(c, options("0.5sigma"));
  EXPECT_NEAR(plan.predicted.value("predicted_error"), std::sqrt(0.75 * 0.04 + 0.0001), 1e-12);
}

TEST(Optimize, LearnsFromAVerification) {
  Correction taught;
  taught.error = 1.2;
  taught.layers = {{"b", 10}};
  const Plan plan = plan_of(Case{}, options("0.174"), &taught);
  EXPECT_TRUE(plan.layers[1].grad_input.is_exact());  // 20 ms a gradient
  EXPECT_LE(plan.predicted.value("predicted_error"), 0.174);
  EXPECT_NEAR(plan.predicted.value("predicted_error"), 1.2 * std::sqrt(0.25 * 0.04 + 0.0001), 1e-9);
}

TEST(Optimize, SimulatedSchemesArePickedWhereTheyWereAskedForAlone) {
  Case c;
  c.add("a", Path::grad_input, "had16+int4", 0.001, 0.1);
  c.errors.rows.back().execution = Execution::simulated;
  const auto pick = [&](const Options& o) { return to_string(plan_of(c, o).layers[0].grad_input); };
  EXPECT_NE(pick(options("0.9")), "had16+int4/tensor/nearest");
  Options asked = options("0.9");
  asked.simulated = true;
  EXPECT_EQ(pick(asked), "had16+int4/tensor/nearest");
}

// No point of the front is beaten by another one of its kind, and the pick lies on it.
TEST(Front, FallsAndHoldsThePick) {
  Options o = options("0.174");
  o.pareto = true;
  const Plan plan = plan_of(Case{}, o);
  std::vector<FrontPoint> time;
  const FrontPoint* pick = nullptr;
  for (const FrontPoint& p : plan.front) {
    if (p.kind == "time") time.push_back(p);
    if (p.name == "this plan") pick = &p;
  }
  ASSERT_GE(time.size(), 3U);
  ASSERT_NE(pick, nullptr);
  EXPECT_NEAR(pick->ms, 10, 1e-9);
  for (std::size_t i = 1; i < time.size(); ++i) {
    EXPECT_LE(time[i].error, time[i - 1].error);
    EXPECT_GE(time[i].ms, time[i - 1].ms * (1 - 2e-3));
  }
  EXPECT_EQ(time.back().error, 0);
}

TEST(Budget, ReadsAmountsAndMultiples) {
  EXPECT_DOUBLE_EQ(parse_error_budget("0.5sigma").amount(0.3), 0.15);
  EXPECT_DOUBLE_EQ(parse_error_budget("10%").amount(9), 0.1);
  EXPECT_DOUBLE_EQ(parse_time_budget("1.5s").amount(0), 1500);
  EXPECT_DOUBLE_EQ(parse_memory_budget("60%").amount(200), 120);
  EXPECT_DOUBLE_EQ(parse_memory_budget("1.5GB").amount(0), 1.5e9);
  EXPECT_THROW((void)parse_memory_budget("60 percent"), UsageError);
  EXPECT_THROW((void)parse_time_budget("-1ms"), UsageError);
  EXPECT_THROW((void)parse_error_budget("nan"), UsageError);
}

/// The case with the schemes of hot, whose weight gradients keep half of what int4's do.
Case with_hot(double weight_ms) {
  Case c;
  for (const char* layer : {"a", "b"}) {
    c.add(layer, Path::grad_input, "had16+int4/tensor/stochastic", 0.2, 5);
    ErrorRow hot = row(layer, Path::grad_weight, "low16r8.sequency+int8/tensor/nearest", 0.2);
    hot.metrics.set("time_ms", weight_ms, Origin::measured);
    hot.metrics.set("kept_bytes", 50, Origin::measured);
    c.errors.rows.push_back(hot);
  }
  return c;
}

// int4 everywhere is fastest, 8 ms, and keeps 1000 − 800 + 2·100 = 400 bytes, hot 300. 5 % of the
// exact 40 ms are 2 ms: two weight gradients of hot's for 0.9 ms more each, one for 1.5 ms.
TEST(Optimize, KeepsNoMoreThanHotWhereThatCostsLittle) {
  const auto bytes = [](const Plan& plan) { return plan.predicted.value("predicted_saved_bytes"); };
  const Plan both = plan_of(with_hot(2.9), options("1"));
  EXPECT_EQ(bytes(both), 300);
  EXPECT_NEAR(both.predicted.value("predicted_ms"), 9.8, 1e-9);
  EXPECT_THAT(both.notes.at(0), HasSubstr("saved bytes at most those of hot"));
  EXPECT_THAT(both.layers[0].why_grad_weight.constraint, HasSubstr("memory binds: none+int4"));
  const Plan one = plan_of(with_hot(3.5), options("1"));
  EXPECT_EQ(bytes(one), 350);
  EXPECT_THAT(one.notes.at(0), HasSubstr("the least for 5 % of the exact time"));
  EXPECT_EQ(bytes(plan_of(with_hot(4.5), options("1"))), 400);
}

// Who sets a limit to memory, or asks for the least memory, gets that.
TEST(Optimize, MemoryOfHotGivesWayToTheUser) {
  const Plan given = plan_of(with_hot(2.9), options("1", "", "100%"));
  EXPECT_NEAR(given.predicted.value("predicted_ms"), 8, 1e-9);
  Options least = options("1");
  least.minimize = "memory";
  EXPECT_EQ(plan_of(with_hot(9), least).predicted.value("predicted_saved_bytes"), 300);
}

}  // namespace
}  // namespace hot::select
