#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/compare.hpp"

namespace hot::reports {
namespace {

/// Times and what is made of them.
bool is_time(const MetricInfo& info) {
  return info.unit == "ms" || info.name.ends_with("speedup") || info.name == "run_to_step_ratio";
}

/// How much wider n intervals are than one, so that all hold together: the quantiles of a normal
/// distribution at 1 - 0.025/n and at 0.975, from above (2.07 for 1.96 at n = 400).
double widening(std::size_t n) {
  return n < 2 ? 1 : std::sqrt(1 + 0.55 * std::log(static_cast<double>(n)));
}

std::optional<double> interval(const Metric& a, const Metric& b, const Noise& noise) {
  if (!a.ci95 && !b.ci95) return std::nullopt;
  // What is a ratio of two times of one run doesn't drift with the machine.
  const double drift = a.info->unit == "ms" ? noise.drift * std::abs(a.value) : 0;
  return widening(noise.family) * std::hypot(a.ci95.value_or(0), b.ci95.value_or(0), drift);
}

Change change_of(const Difference& d, double tolerance, bool repeatable) {
  const double difference = d.b.value - d.a.value;
  if (std::isnan(difference)) return Change::unclear;
  const double margin = tolerance * std::abs(d.a.value);
  const double noise = d.ci95.value_or(0);
  if (std::abs(difference) <= margin) {
    // Within the tolerance, and sure to be: an interval that reaches further decides nothing.
    return noise <= std::abs(d.a.value) * 2 * tolerance || difference == 0 ? Change::same
                                                                           : Change::unclear;
  }
  const bool noise_is_known =
      d.ci95.has_value() || !(is_time(d.info()) || (!repeatable && d.a.origin != Origin::modelled));
  if (!noise_is_known || std::abs(difference) <= noise) return Change::unclear;
  return (difference < 0) == (d.info().better == Better::lower) ? Change::better : Change::worse;
}

}  // namespace

const char* to_string(Change change) {
  switch (change) {
    case Change::same:
      return "same";
    case Change::better:
      return "better";
    case Change::worse:
      return "worse";
    case Change::unclear:
      return "unclear";
  }
  return "?";
}

double Difference::relative() const {
  if (a.value == b.value) return 0;
  return a.value == 0 ? std::copysign(std::numeric_limits<double>::infinity(), b.value)
                      : (b.value - a.value) / std::abs(a.value);
}

Difference difference_of(const Metric& a, const Metric& b, const CompareOptions& options,
                         const Noise& noise) {
  Difference d{a, b, Change::same, interval(a, b, noise)};
  d.change = change_of(d, options.tolerance, noise.repeatable);
  return d;
}

double drift_of(const Metrics& a, const Metrics& b) {
  double drift = 0;
  for (const char* name : {"exact_ms", "step_exact_ms"}) {
    const Metric* in_a = a.find(name);
    const Metric* in_b = b.find(name);
    if (in_a == nullptr || in_b == nullptr || in_a->value <= 0 || in_b->value <= 0) continue;
    drift = std::max(drift, std::abs(in_b->value / in_a->value - 1));
  }
  return drift;
}

}  // namespace hot::reports
