#include "analyzers/select/policies.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "analyzers/select/cost.hpp"
#include "tests/analyzers/select/fixture.hpp"
#include "tests/core/all_schemes.hpp"

namespace hot::select {
namespace {

using ::testing::HasSubstr;
using testing::linear;
using testing::row;

/// Asks `choose` about one path of a large linear layer with these measured errors.
struct Asked {
  LayerTrace layer = linear("a");
  std::vector<ErrorRow> rows;
  LqsChoice lqs{"a", 1.0, 0.9};
  double max_error = 0.1;

  Choice operator()(Choice (*choose)(const Question&), Path path) const {
    Question question{layer, path, {}, &lqs, max_error};
    for (const ErrorRow& r : rows) {
      if (r.path == path) question.rows.push_back(&r);
    }
    return choose(question);
  }
};

TEST(Layerwise, TakesTheCheapestUnderTheLimit) {
  Asked ask;
  ask.rows = {row("a", Path::grad_weight, "none+int8", 0.01),
              row("a", Path::grad_weight, "low16r8+int8", 0.09),
              row("a", Path::grad_weight, "low16r4+int8", 0.11),
              row("a", Path::grad_weight, "had16+int8", 0.005)};
  const Choice choice = ask(choose_layerwise, Path::grad_weight);
  EXPECT_EQ(choice.scheme, parse_scheme("low16r8+int8"));
  EXPECT_EQ(choice.why.runner_up, "none+int8/tensor/nearest");
  const PathWork& work = ask.layer.path(Path::grad_weight);
  EXPECT_NEAR(choice.why.margin,
              modelled_cost(parse_scheme("none+int8"), work) /
                      modelled_cost(parse_scheme("low16r8+int8"), work) -
                  1,
              1e-12);
  EXPECT_EQ(choice.why.constraint, "cheapest under relative error 0.1");
}

// A scheme that may be over the limit, by its 95 % interval, is over it.
TEST(Layerwise, JudgesTheUpperEndOfTheInterval) {
  Asked ask;
  ask.rows = {row("a", Path::grad_input, "none+int4", 0.09, 0.02),
              row("a", Path::grad_input, "none+int8", 0.09, 0.01)};
  EXPECT_EQ(ask(choose_layerwise, Path::grad_input).scheme, parse_scheme("none+int8"));
}

TEST(Layerwise, ExactWhereNothingIsUnderTheLimit) {
  Asked ask;
  ask.rows = {row("a", Path::grad_input, "none+int4", 0.4),
              row("a", Path::grad_input, "none+int8", 0.2),
              row("a", Path::grad_input, "had16+int8", std::numeric_limits<double>::quiet_NaN())};
  const Choice choice = ask(choose_layerwise, Path::grad_input);
  EXPECT_TRUE(choice.scheme.is_exact());
  EXPECT_EQ(choice.why.runner_up, "");
  EXPECT_THAT(choice.why.constraint, HasSubstr("0.2 of none+int8/tensor/nearest"));
}

TEST(Layerwise, ExactWhereTheProductIsTooSmallToPay) {
  Asked ask;
  ask.layer = linear("a", {8, 8, 8, 1}, {8, 8, 8, 1});
  ask.rows = {row("a", Path::grad_input, "none+int8", 0.01)};
  const Choice choice = ask(choose_layerwise, Path::grad_input);
  EXPECT_TRUE(choice.scheme.is_exact());
  EXPECT_EQ(choice.why.runner_up, "none+int8/tensor/nearest");
  EXPECT_GT(choice.why.margin, 0);
  EXPECT_EQ(choice.why.constraint, "exact is the cheapest for products of this size");
}

// Equal cost: one scale before many, then nearest before stochastic, then the smaller error.
TEST(Layerwise, BreaksTiesTowardsTheSimpler) {
  Asked ask;
  ask.rows = {row("a", Path::grad_input, "had16+int8/row:column/nearest", 0.001),
              row("a", Path::grad_input, "had16+int8/row/nearest", 0.002),
              row("a", Path::grad_input, "had16+int8/tensor/stochastic", 0.02),
              row("a", Path::grad_input, "had16+int8/tensor/nearest", 0.03)};
  EXPECT_EQ(ask(choose_layerwise, Path::grad_input).scheme,
            parse_scheme("had16+int8/tensor/nearest"));
  EXPECT_EQ(ask(choose_layerwise, Path::grad_input).why.runner_up, "exact");
  ask.rows.pop_back();
  EXPECT_EQ(ask(choose_layerwise, Path::grad_input).scheme,
            parse_scheme("had16+int8/tensor/stochastic"));
  ask.rows.pop_back();
  EXPECT_EQ(ask(choose_layerwise, Path::grad_input).scheme, parse_scheme("had16+int8/row/nearest"));
  ask.rows = {row("a", Path::grad_weight, "low16r8.sequency+int8", 0.05),
              row("a", Path::grad_weight, "low16r8.lp_l1+int8", 0.04)};
  EXPECT_EQ(ask(choose_layerwise, Path::grad_weight).scheme, parse_scheme("low16r8.lp_l1+int8"));
}

// Whatever was measured, no other admissible scheme is cheaper than the pick, and the pick is
// admissible.
TEST(Layerwise, NoAdmissibleSchemeIsCheaperThanThePick) {
  Asked ask;
  double error = 0;
  for (const Scheme& scheme : hot::testing::all_schemes()) {
    if (scheme.is_exact() || why_illegal(scheme, Path::grad_weight)) continue;
    error = error > 0.2 ? error - 0.19 : error + 0.013;  // some over, some under the limit
    ask.rows.push_back(row("a", Path::grad_weight, to_string(scheme), error));
  }
  const PathWork& work = ask.layer.path(Path::grad_weight);
  for (const double limit : {0.001, 0.05, 0.1, 1.0}) {
    ask.max_error = limit;
    const Choice choice = ask(choose_layerwise, Path::grad_weight);
    bool pick_measured = choice.scheme.is_exact();
    for (const ErrorRow& r : ask.rows) {
      if (largest_error(r) > limit) continue;
      EXPECT_LE(modelled_cost(choice.scheme, work), modelled_cost(r.scheme, work));
      pick_measured = pick_measured || r.scheme == choice.scheme;
    }
    EXPECT_TRUE(pick_measured) << limit;
  }
}

TEST(Presets, HotFollowsLqsOnGradInput) {
  Asked ask;
  ask.lqs = {"a", 1.0, 0.4};
  EXPECT_EQ(to_string(ask(choose_hot, Path::grad_input).scheme), "had16+int4/row/stochastic");
  EXPECT_EQ(ask(choose_hot, Path::grad_input).why.runner_up, "had16+int4/tensor/stochastic");
  ask.lqs = {"a", 1.0, 0.6};
  EXPECT_EQ(to_string(ask(choose_hot, Path::grad_input).scheme), "had16+int4/tensor/stochastic");
  EXPECT_THAT(ask(choose_hot, Path::grad_input).why.constraint, HasSubstr("0.60 of the error"));
  EXPECT_EQ(to_string(ask(choose_hot, Path::grad_weight).scheme),
            "low16r8.sequency+int8/tensor/nearest");
}

TEST(Presets, HlqHasOneScale) {
  Asked ask;
  ask.lqs = {"a", 1.0, 0.1};
  EXPECT_EQ(to_string(ask(choose_hlq, Path::grad_input).scheme), "had16+int4/tensor/stochastic");
  EXPECT_EQ(to_string(ask(choose_hlq, Path::grad_weight).scheme),
            "low16r8.sequency+int8/tensor/nearest");
}

TEST(Presets, LqsStaysExactOverTheLimit) {
  Asked ask;
  ask.rows = {row("a", Path::grad_input, "had16+int4/tensor/stochastic", 0.3),
              row("a", Path::grad_weight, "low16r8.sequency+int8", 0.05)};
  const Choice input = ask(choose_lqs, Path::grad_input);
  EXPECT_TRUE(input.scheme.is_exact());
  EXPECT_THAT(input.why.constraint, HasSubstr("relative error 0.3, over 0.1"));
  EXPECT_EQ(ask(choose_lqs, Path::grad_weight).scheme, parse_scheme("low16r8.sequency+int8"));
  ask.rows.clear();
  EXPECT_THAT(ask(choose_lqs, Path::grad_weight).why.constraint, HasSubstr("was not measured"));
}

TEST(Policies, EveryOneAnswersLegallyForBothPaths) {
  Asked ask;
  for (const Path path : {Path::grad_input, Path::grad_weight}) {
    for (const Scheme& scheme : hot::testing::all_schemes()) {
      if (!scheme.is_exact() && !why_illegal(scheme, path)) {
        ask.rows.push_back(row("a", path, to_string(scheme), 0.02));
      }
    }
  }
  for (const Policy& policy : policies()) {
    if (policy.choose == nullptr) continue;  // the whole plan at once: optimize_test.cpp
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      const Choice choice = ask(policy.choose, path);
      EXPECT_FALSE(why_illegal(choice.scheme, path)) << policy.name;
      EXPECT_FALSE(choice.scheme.is_exact()) << policy.name;
      EXPECT_FALSE(choice.why.constraint.empty()) << policy.name;
    }
    EXPECT_FALSE(policy.description.empty()) << policy.name;
  }
}

}  // namespace
}  // namespace hot::select
