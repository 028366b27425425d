#include "analyzers/select/memory_of_hot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analyzers/select/front.hpp"
#include "analyzers/select/policies.hpp"

namespace hot::select {
namespace {

/// Kept bytes that are worth telling apart, of the exact ones.
constexpr double kLeastGain = 1e-3;

std::optional<Totals> totals_of_hot(const WholePlan& whole, const ErrorTable& errors) {
  const auto hot = std::find_if(policies().begin(), policies().end(),
                                [](const Policy& policy) { return policy.name == "hot"; });
  return hot == policies().end() ? std::nullopt : method_totals(whole, *hot, errors);
}

}  // namespace

Solution with_memory_of_hot(const WholePlan& whole, const ErrorTable& errors,
                            const Options& options, Solution fastest, Bounds& bounds) {
  if (options.memory_budget.value > 0 || objective_of(options) != "time") return fastest;
  const auto hot = totals_of_hot(whole, errors);
  if (!hot || errors.activations.empty() || fastest.totals.bytes <= hot->bytes) return fastest;
  Problem problem = whole.problem;
  problem.gap = options.gap;
  problem.limits = bounds.limits;
  problem.limits.time =
      std::min(bounds.limits.time, fastest.totals.time + kTimeForMemory * whole.exact.time);
  problem.limits.bytes = hot->bytes;
  problem.weights = weights_of(whole, "time");
  std::string text = fmt::format("those of hot = {:.4g} MB", hot->bytes / 1e6);
  auto found = solve(problem);
  if (!found) {
    problem.limits.bytes = bounds.limits.bytes;
    problem.weights = weights_of(whole, "memory");
    found = solve(problem);
    if (!found || found->totals.bytes > fastest.totals.bytes - kLeastGain * whole.exact.bytes)
      return fastest;
    text = fmt::format("{:.4g} MB, the least for {:.0f} % of the exact time",
                       found->totals.bytes / 1e6, 100 * kTimeForMemory);
  }
  bounds.limits.bytes = std::min(problem.limits.bytes, std::max(found->totals.bytes, hot->bytes));
  bounds.memory_text = std::move(text);
  bounds.memory_word = "memory";
  return *std::move(found);
}

}  // namespace hot::select
