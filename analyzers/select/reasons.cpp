#include "analyzers/select/reasons.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace hot::select {
namespace {

/// What a change of one pick makes of the plan.
struct Change {
  std::size_t option = 0;
  Totals totals;
  double objective = 0;
};

/// Sums after one gradient takes another option. Releases are walked only for memory.
class Changes {
 public:
  Changes(const WholePlan& whole, const Bounds& bounds, const std::string& objective,
          const Solution& solution)
      : whole_(whole), bounds_(bounds), objective_(objective), solution_(solution) {
    problem_ = whole.problem;
    problem_.weights = weights_of(whole, objective);
  }

  Why why(std::size_t g) {
    const Gradient& gradient = whole_.gradients[g];
    if (!gradient.only_exact.empty()) return {"", 0, gradient.only_exact};
    const double now = weighed(problem_, solution_.totals);
    const Change* allowed = nullptr;
    const Change* barred = nullptr;
    const std::vector<Change> all = changes(g);
    for (const Change& change : all) {
      if (within(change.totals, bounds_.limits)) {
        if (allowed == nullptr || change.objective < allowed->objective) allowed = &change;
      } else if (change.objective < now &&
                 (barred == nullptr || change.objective < barred->objective)) {
        barred = &change;
      }
    }
    Why why;
    if (allowed != nullptr) {
      why.runner_up = to_string(gradient.schemes[allowed->option]);
      why.margin = now > 0 ? allowed->objective / now - 1 : 0;
    }
    why.constraint = barred != nullptr ? barred_text(gradient, *barred) : free_text(gradient, g);
    return why;
  }

 private:
  std::vector<Change> changes(std::size_t g) {
    std::vector<Change> all;
    std::vector<std::size_t> picks = solution_.picks;
    for (std::size_t i = 0; i < whole_.gradients[g].options.size(); ++i) {
      if (i == solution_.picks[g]) continue;
      picks[g] = i;
      const Totals totals = totals_of(problem_, picks);
      all.push_back({i, totals, weighed(problem_, totals)});
    }
    return all;
  }

  [[nodiscard]] std::string goal() const {
    return objective_ == "memory" ? "smallest" : objective_ == "error" ? "most exact" : "fastest";
  }

  std::string free_text(const Gradient& gradient, std::size_t g) const {
    const bool exact = gradient.schemes[solution_.picks[g]].is_exact();
    const std::string tried = gradient.schemes.size() > 1
                                  ? fmt::format("of {} schemes", gradient.schemes.size())
                                  : "of all schemes tried";
    return exact ? fmt::format("exact is the {} {}", goal(), tried)
                 : fmt::format("the {} {}, no limit bars another", goal(), tried);
  }

  std::string barred_text(const Gradient& gradient, const Change& change) const {
    const std::string scheme = to_string(gradient.schemes[change.option]);
    const Totals& totals = change.totals;
    if (totals.error > bounds_.limits.error) {
      return fmt::format("--max-error binds: {} would take the whole error from {:.3g} to {:.3g}",
                         scheme, std::sqrt(solution_.totals.error), std::sqrt(totals.error));
    }
    if (totals.bytes > bounds_.limits.bytes) {
      return fmt::format("{} binds: {} would keep {:.3g} MB more", bounds_.memory_word, scheme,
                         (totals.bytes - solution_.totals.bytes) / 1e6);
    }
    return fmt::format("--time-budget binds: {} would take {:.3g} ms more", scheme,
                       totals.time - solution_.totals.time);
  }

  const WholePlan& whole_;
  const Bounds& bounds_;
  std::string objective_;
  const Solution& solution_;
  Problem problem_;
};

}  // namespace

std::vector<Why> reasons(const WholePlan& whole, const Bounds& bounds, const std::string& objective,
                         const Solution& solution) {
  Changes changes(whole, bounds, objective, solution);
  std::vector<Why> result;
  for (std::size_t g = 0; g < whole.gradients.size(); ++g) result.push_back(changes.why(g));
  return result;
}

}  // namespace hot::select
