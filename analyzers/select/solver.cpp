#include "analyzers/select/solver.hpp"

#include <Cbc_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "core/errors.hpp"

namespace hot::select {
namespace {

constexpr double kTolerance = 1e-9;

/// A sum over options and releases, as coefficients of the program's columns.
struct Terms {
  std::vector<double> of_options;
  std::vector<double> of_releases;
  double constant = 0;

  Terms(const Problem& problem, const Totals& weights) {
    for (const auto& group : problem.groups) {
      for (const Option& o : group) {
        of_options.push_back(weights.time * o.time + weights.error * o.error +
                             weights.bytes * o.bytes);
      }
    }
    for (const Release& r : problem.releases) of_releases.push_back(-weights.bytes * r.bytes);
    constant = weights.bytes * problem.fixed_bytes;
  }

  /// The largest magnitude; sums are divided by it, so that CBC's tolerances mean the same
  /// everywhere.
  [[nodiscard]] double scale() const {
    double largest = 0;
    for (const double v : of_options) largest = std::max(largest, std::abs(v));
    for (const double v : of_releases) largest = std::max(largest, std::abs(v));
    return largest > 0 ? largest : 1;
  }
};

/// The rows and columns of the program in CBC's hands.
class Program {
 public:
  explicit Program(const Problem& problem) : problem_(problem), model_(Cbc_newModel()) {
    Cbc_setLogLevel(model_.get(), 0);
    // CBC 2.10's preprocessing loses optima of programs with releases (solver_test finds them).
    Cbc_setParameter(model_.get(), "preprocess", "off");
    add_columns();
    add_choices();
    add_releases();
    add_limit({1, 0, 0}, problem.limits.time);
    add_limit({0, 1, 0}, problem.limits.error);
    add_limit({0, 0, 1}, problem.limits.bytes);
  }

  std::optional<Solution> solve() {
    Cbc_setAllowableFractionGap(model_.get(), problem_.gap);
    Cbc_setAllowableGap(model_.get(), 1e-12);
    Cbc_setMaximumSeconds(model_.get(), problem_.seconds);
    Cbc_solve(model_.get());
    const double* columns =
        Cbc_numberSavedSolutions(model_.get()) > 0 || Cbc_isProvenOptimal(model_.get()) != 0
            ? Cbc_getColSolution(model_.get())
            : nullptr;
    if (Cbc_isProvenInfeasible(model_.get()) != 0) return std::nullopt;
    if (columns == nullptr) {
      throw EnvironmentError(
          "the solver (CBC) found no plan in the time it had; loosen the limits or leave one out");
    }
    return read(columns);
  }

 private:
  void add_columns() {
    const Terms objective(problem_, problem_.weights);
    const double scale = objective.scale();
    int column = 0;
    for (const auto& group : problem_.groups) {
      first_.push_back(column);
      column += static_cast<int>(group.size());
    }
    releases_ = column;
    for (const double v : objective.of_options) add_column(v / scale);
    for (const double v : objective.of_releases) add_column(v / scale);
  }

  void add_column(double cost) { Cbc_addCol(model_.get(), "", 0, 1, cost, 1, 0, nullptr, nullptr); }

  void add_row(const std::vector<int>& columns, const std::vector<double>& values, char sense,
               double right) {
    Cbc_addRow(model_.get(), "", static_cast<int>(columns.size()), columns.data(), values.data(),
               sense, right);
  }

  void add_choices() {
    for (std::size_t g = 0; g < problem_.groups.size(); ++g) {
      std::vector<int> columns;
      for (std::size_t i = 0; i < problem_.groups[g].size(); ++i) columns.push_back(at(g, i));
      add_row(columns, std::vector<double>(columns.size(), 1), 'E', 1);
    }
  }

  void add_releases() {
    for (std::size_t s = 0; s < problem_.releases.size(); ++s) {
      for (const std::size_t g : problem_.releases[s].groups) {
        std::vector<int> columns = {releases_ + static_cast<int>(s)};
        std::vector<double> values = {1};
        for (std::size_t i = 0; i < problem_.groups[g].size(); ++i) {
          if (!problem_.groups[g][i].releases) continue;
          columns.push_back(at(g, i));
          values.push_back(-1);
        }
        add_row(columns, values, 'L', 0);
      }
    }
  }

  void add_limit(const Totals& what, double limit) {
    if (!std::isfinite(limit)) return;
    const Terms sum(problem_, what);
    const double scale = sum.scale();
    std::vector<int> columns;
    std::vector<double> values;
    const auto add = [&](int first, const std::vector<double>& coefficients) {
      for (std::size_t i = 0; i < coefficients.size(); ++i) {
        if (coefficients[i] == 0) continue;
        columns.push_back(first + static_cast<int>(i));
        values.push_back(coefficients[i] / scale);
      }
    };
    add(0, sum.of_options);
    add(releases_, sum.of_releases);
    add_row(columns, values, 'L', (limit - sum.constant) / scale);
  }

  [[nodiscard]] int at(std::size_t group, std::size_t option) const {
    return first_[group] + static_cast<int>(option);
  }

  Solution read(const double* columns) const {
    Solution solution;
    for (std::size_t g = 0; g < problem_.groups.size(); ++g) {
      const double* first = columns + first_[g];
      solution.picks.push_back(static_cast<std::size_t>(
          std::max_element(first, first + problem_.groups[g].size()) - first));
    }
    solution.totals = totals_of(problem_, solution.picks);
    const double found = Cbc_getObjValue(model_.get());
    const double bound = Cbc_getBestPossibleObjValue(model_.get());
    if (std::abs(found) > 0) {
      solution.gap = std::max(0.0, (found - bound) / std::abs(found));
    }
    return solution;
  }

  struct Deleter {
    void operator()(void* model) const { Cbc_deleteModel(model); }
  };

  const Problem& problem_;
  std::unique_ptr<void, Deleter> model_;
  std::vector<int> first_;
  int releases_ = 0;
};

}  // namespace

double weighed(const Problem& problem, const Totals& totals) {
  const Totals& w = problem.weights;
  return w.time * totals.time + w.error * totals.error + w.bytes * totals.bytes;
}

Totals totals_of(const Problem& problem, const std::vector<std::size_t>& picks) {
  Totals totals{0, 0, problem.fixed_bytes};
  for (std::size_t g = 0; g < picks.size(); ++g) {
    const Option& option = problem.groups[g][picks[g]];
    totals.time += option.time;
    totals.error += option.error;
    totals.bytes += option.bytes;
  }
  for (const Release& release : problem.releases) {
    const bool released =
        std::all_of(release.groups.begin(), release.groups.end(),
                    [&](std::size_t g) { return problem.groups[g][picks[g]].releases; });
    if (released) totals.bytes -= release.bytes;
  }
  return totals;
}

bool within(const Totals& totals, const Totals& limits) {
  const auto below = [](double sum, double limit) {
    return sum <= limit + kTolerance * std::abs(limit);
  };
  return below(totals.time, limits.time) && below(totals.error, limits.error) &&
         below(totals.bytes, limits.bytes);
}

std::optional<Solution> solve(const Problem& problem) {
  if (problem.groups.empty()) {
    Solution nothing{{}, totals_of(problem, {}), 0};
    return within(nothing.totals, problem.limits) ? std::optional(nothing) : std::nullopt;
  }
  return Program(problem).solve();
}

}  // namespace hot::select
