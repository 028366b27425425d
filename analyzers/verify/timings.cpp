#include "analyzers/verify/timings.hpp"

#include <cmath>

#include "analyzers/measure/mean_estimate.hpp"

namespace hot::verify {
namespace {

void set(Metrics& metrics, std::string_view name, const std::vector<double>& values) {
  const auto e = measure::estimate_mean(values);
  metrics.set(name, e.mean, Origin::measured, e.ci95);
}

/// exact, plan and their ratio, pair by pair.
void set_comparison(Metrics& metrics, const std::vector<double>& exact,
                    const std::vector<double>& plan, std::string_view prefix) {
  std::vector<double> exact_ms, plan_ms, ratios;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    exact_ms.push_back(exact[i] * 1e3);
    plan_ms.push_back(plan[i] * 1e3);
    if (plan[i] > 0) ratios.push_back(exact[i] / plan[i]);
  }
  const std::string p(prefix);
  set(metrics, p + "exact_ms", exact_ms);
  set(metrics, p + "plan_ms", plan_ms);
  if (!ratios.empty()) set(metrics, p + "speedup", ratios);
}

double at_or_zero(const std::map<std::string, double>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

}  // namespace

void Timings::add(const StepRun& exact, const StepRun& plan) {
  Pair pair;
  pair.exact = layer_seconds(exact);
  pair.plan = layer_seconds(plan);
  pair.exact_step = exact.step.forward_seconds + exact.step.backward_seconds;
  pair.plan_step = plan.step.forward_seconds + plan.step.backward_seconds;
  pairs_.push_back(std::move(pair));
}

void Timings::report_layer(const std::string& layer, Metrics& metrics) const {
  std::vector<double> exact, plan;
  for (const auto& pair : pairs_) {
    exact.push_back(at_or_zero(pair.exact, layer));
    plan.push_back(at_or_zero(pair.plan, layer));
  }
  if (!exact.empty()) set_comparison(metrics, exact, plan, "");
}

void Timings::report_total(const std::vector<std::string>& changed,
                           const std::vector<std::string>& eligible, Metrics& metrics) const {
  if (pairs_.empty()) return;
  const auto sums = [&](const std::vector<std::string>& layers, auto Pair::*of) {
    std::vector<double> result;
    for (const auto& pair : pairs_) {
      double sum = 0;
      for (const auto& layer : layers) sum += at_or_zero(pair.*of, layer);
      result.push_back(sum);
    }
    return result;
  };
  set_comparison(metrics, sums(changed, &Pair::exact), sums(changed, &Pair::plan), "");
  set_comparison(metrics, sums(eligible, &Pair::exact), sums(eligible, &Pair::plan), "eligible_");
  std::vector<double> exact_step, plan_step;
  for (const auto& pair : pairs_) {
    exact_step.push_back(pair.exact_step);
    plan_step.push_back(pair.plan_step);
  }
  set_comparison(metrics, exact_step, plan_step, "step_");
  metrics.set("repeats", static_cast<double>(pairs_.size()), Origin::measured);
}

bool Timings::decided() const {
  if (pairs_.size() < 2) return false;
  std::vector<double> ratios;
  for (const auto& pair : pairs_) {
    if (pair.plan_step > 0) ratios.push_back(pair.exact_step / pair.plan_step);
  }
  if (ratios.size() < 2) return false;
  const auto speedup = measure::estimate_mean(ratios);
  return std::abs(speedup.mean - 1) > speedup.ci95.value_or(0);
}

}  // namespace hot::verify
