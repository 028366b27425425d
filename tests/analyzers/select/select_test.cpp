#include "analyzers/select/select.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "analyzers/select/cost.hpp"
#include "analyzers/select/policies.hpp"
#include "core/errors.hpp"
#include "tests/analyzers/select/fixture.hpp"

namespace hot::select {
namespace {

using ::testing::HasSubstr;
using testing::linear;
using testing::row;

/// Two layers, each with an int8 scheme on both paths and an int4 scheme that is too wrong for `b`.
struct Case {
  Trace trace;
  ErrorTable errors;

  Case() {
    trace.layers = {linear("net.a"), linear("net.b")};
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      errors.rows.push_back(row("net.a", path, "none+int8", 0.01));
      errors.rows.push_back(row("net.a", path, "none+int4", 0.08));
      errors.rows.push_back(row("net.b", path, "none+int8", 0.02));
      errors.rows.push_back(row("net.b", path, "none+int4", 0.3));
    }
    errors.lqs = {{"net.a", 1, 0.2}, {"net.b", 1, 0.8}};
  }
};

/// The policy, with a limit on relative errors and layers that stay exact.
Options with(const std::string& policy, double max_error, std::vector<std::string> exact = {}) {
  Options options;
  options.policy = policy;
  options.max_error = {max_error, false, ""};
  options.keep_exact = std::move(exact);
  return options;
}

Plan run(const Case& c, const Options& options = with("layerwise", 0.1)) {
  return select(c.trace, c.errors, {"abc", 7}, options);
}

std::string refusal(const Case& c, const Options& options) {
  try {
    (void)run(c, options);
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Select, ChoosesEachLayerAndPathByItself) {
  const Plan plan = run(Case{});
  ASSERT_EQ(plan.layers.size(), 2U);
  EXPECT_EQ(plan.policy, "layerwise");
  EXPECT_EQ(plan.model.sha256, "abc");
  EXPECT_EQ(plan.layers[0].grad_input, parse_scheme("none+int4"));
  EXPECT_EQ(plan.layers[1].grad_input, parse_scheme("none+int8"));
  EXPECT_EQ(plan.layers[1].weight_shape, (std::vector<std::int64_t>{1024, 2048}));
}

TEST(Select, LeavesOutIneligibleLayers) {
  Case c;
  c.trace.layers[0].eligible = false;
  const Plan plan = run(c);
  ASSERT_EQ(plan.layers.size(), 1U);
  EXPECT_EQ(plan.layers[0].name, "net.b");
}

TEST(Select, PathsThatDoNotRunStayExactForEveryPolicy) {
  Case c;
  c.trace.layers[0].path(Path::grad_input) = {};
  for (const Policy& policy : policies()) {
    const Plan plan = run(c, with(std::string(policy.name), 0.5));
    EXPECT_TRUE(plan.layers[0].grad_input.is_exact()) << policy.name;
    EXPECT_EQ(plan.layers[0].why_grad_input.constraint, "not computed") << policy.name;
  }
}

TEST(Select, ZeroGradientsStayExactForEveryPolicyAndSaySo) {
  Case c;
  c.errors.rows.erase(c.errors.rows.begin(), c.errors.rows.end());
  c.trace.layers[0].notes = {"its gradient is exactly zero"};
  for (const Policy& policy : policies()) {
    const Plan plan = run(c, with(std::string(policy.name), 0.5));
    EXPECT_TRUE(plan.layers[0].grad_weight.is_exact()) << policy.name;
    EXPECT_THAT(plan.layers[0].why_grad_weight.constraint, HasSubstr("zero")) << policy.name;
  }
  EXPECT_EQ(run(c).layers[1].why_grad_input.constraint, "no error was measured");
}

TEST(Select, KeptLayersStayExactForEveryPolicy) {
  for (const Policy& policy : policies()) {
    const Plan plan = run(Case{}, with(std::string(policy.name), 0.5, {"*.a"}));
    EXPECT_TRUE(plan.layers[0].grad_input.is_exact()) << policy.name;
    EXPECT_TRUE(plan.layers[0].grad_weight.is_exact()) << policy.name;
    EXPECT_EQ(plan.layers[0].why_grad_input.constraint, "kept exact: *.a") << policy.name;
  }
}

TEST(Select, RefusesWhatIsNotThere) {
  EXPECT_THAT(refusal({}, with("best", 0.1)), HasSubstr("no policy 'best'; the policies are auto"));
  EXPECT_THAT(refusal({}, with("auto", 0.1, {"head*"})),
              HasSubstr("matches 'head*'; a layer is called 'net.a'"));
  EXPECT_THAT(refusal({}, with("auto", 0)), HasSubstr("number over 0"));
  EXPECT_THAT(refusal({}, with("auto", std::numeric_limits<double>::quiet_NaN())),
              HasSubstr("number over 0"));
}

// All four gradients have equal FLOPs: cost and error are plain means. x is kept as int8
// everywhere, int4 unpacked too.
TEST(Select, PredictsFromCostsAndMeasuredErrors) {
  const Case c;
  const Plan plan = run(c);
  double cost = 0;
  for (const auto& [layer, scheme] : {std::pair{0, "none+int4"}, std::pair{1, "none+int8"}}) {
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      cost += modelled_cost(parse_scheme(scheme),
                            c.trace.layers[static_cast<std::size_t>(layer)].path(path)) /
              4;
    }
  }
  EXPECT_NEAR(plan.predicted.value("cost"), cost, 1e-12);
  EXPECT_EQ(plan.predicted.find("cost")->origin, Origin::modelled);
  EXPECT_EQ(plan.predicted.value("saved_fraction"), 0.25);
  EXPECT_EQ(plan.predicted.value("largest_relative_error"), 0.08);
  EXPECT_NEAR(plan.predicted.value("mean_relative_error"), (0.08 + 0.02) / 2, 1e-12);
  EXPECT_EQ(plan.predicted.find("mean_relative_error")->origin, Origin::measured);
}

TEST(Select, PredictsNoErrorThatWasNotMeasured) {
  const Plan plan = run(Case{}, with("hot", 0.1));
  EXPECT_EQ(plan.predicted.find("largest_relative_error"), nullptr);
  EXPECT_LT(plan.predicted.value("cost"), 0.5);
  const Plan exact = run(Case{}, with("layerwise", 1e-6));
  EXPECT_TRUE(exact.all_exact());
  EXPECT_EQ(exact.predicted.value("cost"), 1);
  EXPECT_EQ(exact.predicted.value("saved_fraction"), 1);
}

TEST(Select, AModelWithoutEligibleLayersHasAnEmptyPlan) {
  Case c;
  c.trace.layers.clear();
  const Plan empty = run(c);
  EXPECT_TRUE(empty.layers.empty());
  EXPECT_TRUE(empty.predicted.all().empty());
}

}  // namespace
}  // namespace hot::select
