#include "analyzers/select/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

namespace hot::select {
namespace {

using Generator = std::mt19937_64;

double uniform(Generator& generator) {
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

/// Groups of random options; exact (slow, no error, releases nothing) first, and releases of one to
/// three groups.
Problem random_problem(Generator& generator, std::size_t groups, std::size_t options) {
  Problem problem;
  problem.gap = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<Option> group = {{10 * uniform(generator), 0, 0, false}};
    while (group.size() < options) {
      const bool releases = uniform(generator) < 0.5;
      group.push_back({10 * uniform(generator), uniform(generator),
                       releases ? 3 * uniform(generator) : 0, releases});
    }
    problem.groups.push_back(std::move(group));
  }
  for (std::size_t g = 0; g < groups; g += 2) {
    Release release{5 + 10 * uniform(generator), {g}};
    if (g + 1 < groups && uniform(generator) < 0.5) release.groups.push_back(g + 1);
    problem.fixed_bytes += release.bytes;
    problem.releases.push_back(std::move(release));
  }
  return problem;
}

/// Limits that some choices keep and others don't: the totals of a random choice.
void draw_limits(Generator& generator, Problem& problem) {
  std::vector<std::size_t> picks;
  for (const auto& group : problem.groups) picks.push_back(generator() % group.size());
  const Totals some = totals_of(problem, picks);
  if (uniform(generator) < 0.7) problem.limits.error = some.error * (0.3 + uniform(generator));
  if (uniform(generator) < 0.5) problem.limits.bytes = some.bytes * (0.6 + uniform(generator));
  if (uniform(generator) < 0.3) problem.limits.time = some.time * (0.5 + uniform(generator));
  problem.weights = {uniform(generator), uniform(generator), uniform(generator)};
}

/// Least objective of all choices by walking through them; infinite where none keeps the limits.
class BruteForce {
 public:
  explicit BruteForce(const Problem& problem)
      : problem_(problem), rest_(problem.groups.size() + 1) {
    const Totals& w = problem.weights;
    double most = problem.fixed_bytes;
    for (const Release& r : problem.releases) most -= r.bytes;
    rest_.back() = w.bytes * most;
    for (std::size_t g = problem.groups.size(); g-- > 0;) {
      double least = std::numeric_limits<double>::infinity();
      for (const Option& o : problem.groups[g]) least = std::min(least, cost(o));
      rest_[g] = rest_[g + 1] + least;
    }
  }

  double operator()() {
    std::vector<std::size_t> picks;
    walk(picks, 0, 0, 0);
    return best_;
  }

 private:
  [[nodiscard]] double cost(const Option& o) const {
    return problem_.weights.time * o.time + problem_.weights.error * o.error +
           problem_.weights.bytes * o.bytes;
  }

  /// Leaves a branch only where it can't hold the best: the rest at its least, every release taken
  /// for granted, is no better; or time or error, which only grow, are over their limits.
  void walk(std::vector<std::size_t>& picks, double time, double error, double so_far) {
    if (picks.size() == problem_.groups.size()) {
      const Totals totals = totals_of(problem_, picks);
      if (within(totals, problem_.limits)) best_ = std::min(best_, weighed(problem_, totals));
      return;
    }
    if (time > problem_.limits.time * 1.000001 || error > problem_.limits.error * 1.000001) return;
    if (so_far + rest_[picks.size()] >= best_) return;
    const auto& group = problem_.groups[picks.size()];
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Option& o = group[i];
      picks.push_back(i);
      walk(picks, time + o.time, error + o.error, so_far + cost(o));
      picks.pop_back();
    }
  }

  const Problem& problem_;
  std::vector<double> rest_;  ///< least that the groups from here on can add
  double best_ = std::numeric_limits<double>::infinity();
};

void expect_optimum(const Problem& problem, const std::string& what) {
  const double best = BruteForce(problem)();
  const auto solution = solve(problem);
  if (!solution) {
    EXPECT_TRUE(std::isinf(best)) << what;
    return;
  }
  EXPECT_TRUE(within(solution->totals, problem.limits)) << what;
  EXPECT_NEAR(weighed(problem, solution->totals), best, 1e-7 * std::max(1.0, std::abs(best)))
      << what;
}

TEST(Solver, EqualsBruteForceOnSmallRandomInstances) {
  Generator generator(7);
  int limited = 0;
  for (int n = 0; n < 300; ++n) {
    Problem problem = random_problem(generator, 1 + generator() % 7, 2 + generator() % 5);
    draw_limits(generator, problem);
    limited += std::isfinite(problem.limits.error) ? 1 : 0;
    expect_optimum(problem, "instance " + std::to_string(n));
  }
  EXPECT_GT(limited, 100);
}

TEST(Solver, EqualsBruteForceOnTwelveLayersOfSixSchemes) {
  Generator generator(11);
  for (int n = 0; n < 2; ++n) {
    Problem problem = random_problem(generator, 12, 6);
    draw_limits(generator, problem);
    expect_optimum(problem, "instance " + std::to_string(n));
  }
}

TEST(Solver, SaysWhereNothingKeepsTheLimits) {
  Problem problem;
  problem.groups = {{{1, 0, 0, false}, {0.5, 0.2, 0, false}}};
  problem.limits.time = 0.4;
  EXPECT_FALSE(solve(problem).has_value());
  problem.limits.time = 0.5;
  EXPECT_EQ(solve(problem)->picks, std::vector<std::size_t>{1});
}

// One activation is read by two layers: compressing one of them alone only adds bytes.
TEST(Solver, AnActivationGoesOnlyWhenAllItsReadersLetItGo) {
  Problem problem;
  problem.groups = {{{1, 0, 0, false}, {1, 0.1, 25, true}}, {{1, 0, 0, false}, {1, 0.1, 25, true}}};
  problem.releases = {{100, {0, 1}}};
  problem.fixed_bytes = 100;
  problem.weights = {0, 0, 1};
  const auto both = solve(problem);
  EXPECT_EQ(both->picks, (std::vector<std::size_t>{1, 1}));
  EXPECT_DOUBLE_EQ(both->totals.bytes, 50);
  problem.limits.error = 0.15;
  const auto none = solve(problem);
  EXPECT_EQ(none->picks, (std::vector<std::size_t>{0, 0}));
  EXPECT_DOUBLE_EQ(none->totals.bytes, 100);
}

// The size of the largest models: CBC comes to the stated gap, and the bound it proves holds.
TEST(Solver, AThousandLayersUnderTwoBudgets) {
  Generator generator(3);
  Problem problem = random_problem(generator, 1000, 12);
  problem.gap = 1e-4;
  problem.weights = {1, 0, 0};
  problem.limits.error = 150;
  problem.limits.bytes = 0.7 * problem.fixed_bytes;
  const auto solution = solve(problem);
  ASSERT_TRUE(solution.has_value());
  EXPECT_TRUE(within(solution->totals, problem.limits));
  EXPECT_LE(solution->gap, 1.1e-4);
}

TEST(Solver, NothingToChooseIsAPlanToo) {
  Problem problem;
  problem.fixed_bytes = 5;
  EXPECT_EQ(solve(problem)->totals.bytes, 5);
  problem.limits.bytes = 4;
  EXPECT_FALSE(solve(problem).has_value());
}

}  // namespace
}  // namespace hot::select
