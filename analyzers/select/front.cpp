#include "analyzers/select/front.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "analyzers/select/optimize.hpp"
#include "analyzers/select/policies.hpp"

namespace hot::select {
namespace {

constexpr int kPoints = 12;
constexpr double kFrontGap = 1e-3;

FrontPoint point(const char* kind, std::string name, const Totals& totals) {
  return {kind, std::move(name), std::sqrt(totals.error), totals.time, totals.bytes};
}

/// Error limits from the largest that buys anything down to a hundredth of it, evenly by ratio.
void add_curve(const WholePlan& whole, const char* kind, std::vector<FrontPoint>& points) {
  Problem problem = whole.problem;
  problem.weights = weights_of(whole, kind);
  problem.gap = kFrontGap;
  auto solution = solve(problem);
  double limit = kNoLimit;
  for (int i = 0; i < kPoints && solution; ++i) {
    const FrontPoint next = point(kind, "", solution->totals);
    const bool repeated = !points.empty() && points.back().kind == kind &&
                          points.back().error == next.error && points.back().ms == next.ms;
    if (!repeated) points.push_back(next);
    if (solution->totals.error <= 0) return;
    limit = std::min(limit, solution->totals.error) * 0.43;
    problem.limits.error = limit;
    solution = solve(problem);
  }
  points.push_back(point(kind, "", whole.exact));
}

}  // namespace

std::optional<Totals> method_totals(const WholePlan& whole, const Policy& policy,
                                    const ErrorTable& errors) {
  std::vector<std::size_t> picks;
  for (const Gradient& g : whole.gradients) {
    if (!g.only_exact.empty()) {
      picks.push_back(0);
      continue;
    }
    const auto lqs = std::find_if(errors.lqs.begin(), errors.lqs.end(),
                                  [&](const LqsChoice& l) { return l.layer == g.layer->name; });
    const Scheme scheme =
        policy.choose({*g.layer, g.path, {}, lqs == errors.lqs.end() ? nullptr : &*lqs, kNoLimit})
            .scheme;
    const auto found = std::find(g.schemes.begin(), g.schemes.end(), scheme);
    if (found == g.schemes.end()) return std::nullopt;
    picks.push_back(static_cast<std::size_t>(found - g.schemes.begin()));
  }
  return totals_of(whole.problem, picks);
}

std::vector<FrontPoint> front(const WholePlan& whole, const Totals& picked,
                              const ErrorTable& errors) {
  std::vector<FrontPoint> points;
  if (whole.gradients.empty()) return points;
  add_curve(whole, "time", points);
  add_curve(whole, "memory", points);
  points.push_back(point("mark", "this plan", picked));
  points.push_back(point("mark", "exact", whole.exact));
  for (const Policy& policy : policies()) {
    if (!policy.method) continue;
    if (const auto totals = method_totals(whole, policy, errors)) {
      points.push_back(point("mark", std::string(policy.name), *totals));
    }
  }
  return points;
}

}  // namespace hot::select
