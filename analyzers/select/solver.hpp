#pragma once

#include <limits>
#include <optional>
#include <vector>

namespace hot::select {

/// What one scheme of one gradient adds to the plan.
struct Option {
  double time = 0;        ///< ms
  double error = 0;       ///< share of the squared relative error of the whole gradient
  double bytes = 0;       ///< kept for backward in place of x
  bool releases = false;  ///< forward no longer keeps x for this gradient
};

/// Memory that goes when the options taken for all these groups release it.
struct Release {
  double bytes = 0;
  std::vector<std::size_t> groups;
};

/// A plan's three sums, a limit on each, or a weight for each.
struct Totals {
  double time = 0;   ///< ms
  double error = 0;  ///< squared relative error
  double bytes = 0;
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Take one option of each group so that the weighted sum of the totals is least within the limits.
struct Problem {
  std::vector<std::vector<Option>> groups;
  std::vector<Release> releases;
  double fixed_bytes = 0;   ///< kept whatever is chosen, everything that can be released included
  Totals weights{1, 0, 0};  ///< the objective
  Totals limits{kNoLimit, kNoLimit, kNoLimit};
  /// Relative distance from the least possible objective at which the search may stop.
  double gap = 1e-6;
  double seconds = 20;  ///< at most; the gap that was reached is told
};

struct Solution {
  std::vector<std::size_t> picks;  ///< one option of each group
  Totals totals;
  double gap = 0;  ///< proven: (objective − lower bound) / objective
};

/// The objective.
[[nodiscard]] double weighed(const Problem& problem, const Totals& totals);

/// What these picks add up to.
[[nodiscard]] Totals totals_of(const Problem& problem, const std::vector<std::size_t>& picks);

/// True when the totals keep all limits, to within 1e-9 of them.
[[nodiscard]] bool within(const Totals& totals, const Totals& limits);

/// The integer program Σ_i x_gi = 1, r_s ≤ Σ_{i releases} x_gi, solved by CBC's branch and cut to
/// `gap`; nullopt where no choice keeps the limits. Throws EnvironmentError when CBC gives up
/// without a plan.
[[nodiscard]] std::optional<Solution> solve(const Problem& problem);

}  // namespace hot::select
