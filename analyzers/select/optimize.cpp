#include "analyzers/select/optimize.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.hpp"

namespace hot::select {
namespace {

/// All of the other quantity, relative to all of the objective.
constexpr double kTieBreak = 0.05;

double inverse(double value) {
  return value > 0 ? 1 / value : 1;
}

std::string megabytes(double bytes) {
  return fmt::format("{:.4g} MB", bytes / 1e6);
}

/// One limit, for the messages.
struct Limit {
  const char* option;
  const std::string& text;
  double Totals::*of;
  Totals weights;
};

std::string least_text(const Limit& limit, const Totals& least, const Totals& exact) {
  if (limit.of == &Totals::error) return fmt::format("--max-error {:.3g}", std::sqrt(least.error));
  if (limit.of == &Totals::time) {
    return fmt::format("--time-budget {:.4g}ms ({:.3g}% of exact)", least.time,
                       100 * least.time / exact.time);
  }
  return fmt::format("--memory-budget {:.4g}MB ({:.3g}% of exact)", least.bytes / 1e6,
                     100 * least.bytes / exact.bytes);
}

/// Names the limit that can't be kept, alone or beside the others, and the least that would do.
[[noreturn]] void refuse(const WholePlan& whole, const Bounds& bounds) {
  const Limit limits[] = {
      {"--max-error", bounds.error_text, &Totals::error, {0, 1, 0}},
      {"--time-budget", bounds.time_text, &Totals::time, {1, 0, 0}},
      {"--memory-budget", bounds.memory_text, &Totals::bytes, {0, 0, 1}},
  };
  std::string message;
  for (const bool alone : {true, false}) {
    for (const Limit& limit : limits) {
      if (!std::isfinite(bounds.limits.*limit.of)) continue;
      Problem problem = whole.problem;
      problem.weights = limit.weights;
      problem.limits = alone ? Totals{kNoLimit, kNoLimit, kNoLimit} : bounds.limits;
      problem.limits.*limit.of = kNoLimit;
      const auto least = solve(problem);
      if (!least || least->totals.*limit.of <= bounds.limits.*limit.of) continue;
      message += fmt::format("{}{} {}: the least that any plan reaches{} is {}",
                             message.empty() ? "" : "; or ", limit.option, limit.text,
                             alone ? "" : " under the other limits",
                             least_text(limit, least->totals, whole.exact));
      if (alone) throw UsageError("no plan keeps " + message);
    }
  }
  throw UsageError(fmt::format("no plan keeps all limits together. {}", message));
}

}  // namespace

Bounds bounds_of(const WholePlan& whole, const ErrorTable& errors, const Options& options) {
  Bounds bounds{{kNoLimit, kNoLimit, kNoLimit}, kNoLimit, {}, {}, {}, "--memory-budget"};
  if (options.max_error.value > 0) {
    const Metric* noise = errors.whole.find("minibatch_noise");
    if (options.max_error.relative && noise == nullptr) {
      throw UsageError(
          fmt::format("--max-error {} needs the minibatch noise: give --batches 2 or more",
                      options.max_error.text));
    }
    bounds.max_error = options.max_error.amount(noise == nullptr ? 0 : noise->value);
    bounds.limits.error = bounds.max_error * bounds.max_error;
    bounds.error_text = options.max_error.relative
                            ? fmt::format("{} = {:.3g}", options.max_error.text, bounds.max_error)
                            : fmt::format("{:.3g}", bounds.max_error);
  }
  if (options.time_budget.value > 0) {
    bounds.limits.time = options.time_budget.amount(whole.exact.time);
    bounds.time_text = fmt::format("{} = {:.4g} ms", options.time_budget.text, bounds.limits.time);
  }
  if (options.memory_budget.value > 0) {
    bounds.limits.bytes = options.memory_budget.amount(whole.exact.bytes);
    bounds.memory_text =
        fmt::format("{} = {}", options.memory_budget.text, megabytes(bounds.limits.bytes));
  }
  return bounds;
}

std::string objective_of(const Options& options) {
  if (options.minimize != "auto") return options.minimize;
  return options.time_budget.value > 0 ? "error" : "time";
}

Totals weights_of(const WholePlan& whole, const std::string& objective) {
  const double time = inverse(whole.exact.time);
  const double bytes = inverse(whole.exact.bytes);
  if (objective == "memory") return {kTieBreak * time, 0, bytes};
  if (objective == "error") return {1e-6 * time, 1, 1e-7 * bytes};
  return {time, 0, kTieBreak * bytes};
}

Solution best_plan(const WholePlan& whole, const Bounds& bounds, const Options& options) {
  Problem problem = whole.problem;
  problem.weights = weights_of(whole, objective_of(options));
  problem.limits = bounds.limits;
  problem.gap = options.gap;
  auto solution = solve(problem);
  if (!solution) refuse(whole, bounds);
  return *std::move(solution);
}

}  // namespace hot::select
