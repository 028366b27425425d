#include "analyzers/train/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analyzers/measure/mean_estimate.hpp"

namespace hot::train {
namespace {

void set(Metrics& metrics, const std::string& name, const std::vector<double>& values) {
  if (values.empty()) return;
  const measure::MeanEstimate e = measure::estimate_mean(values);
  metrics.set(name, e.mean, Origin::measured, e.ci95);
}

using Figure = std::function<std::optional<double>(const TrainingCurve&)>;

/// NAME_exact, NAME_plan and their paired difference; nothing where a curve lacks the figure.
void set_paired(Training& training, const std::string& name, const Figure& figure) {
  std::vector<double> exact, plan, difference;
  for (const TrainingPair& pair : training.pairs) {
    const auto e = figure(pair.exact);
    const auto p = figure(pair.plan);
    if (!e || !p) return;
    exact.push_back(*e);
    plan.push_back(*p);
    difference.push_back(*p - *e);
  }
  set(training.total, name + "_exact", exact);
  set(training.total, name + "_plan", plan);
  set(training.total, name + "_difference", difference);
}

std::optional<double> loss_at_end(const TrainingCurve& curve) {
  if (curve.losses.empty()) return std::nullopt;
  const auto steps = std::ssize(curve.losses);
  const auto last = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(kEnd * static_cast<double>(steps))), 1, steps);
  return std::accumulate(curve.losses.end() - last, curve.losses.end(), 0.0) /
         static_cast<double>(last);
}

void set_times(Training& training) {
  std::vector<double> exact, plan, ratio;
  for (const TrainingPair& pair : training.pairs) {
    exact.push_back(1e3 * pair.exact.step_seconds);
    plan.push_back(1e3 * pair.plan.step_seconds);
    if (pair.plan.step_seconds > 0)
      ratio.push_back(pair.exact.step_seconds / pair.plan.step_seconds);
  }
  set(training.total, "step_exact_ms", exact);
  set(training.total, "step_plan_ms", plan);
  set(training.total, "step_speedup", ratio);
}

void set_angles(Training& training) {
  std::vector<double> means;
  double lowest = 1;
  for (const TrainingPair& pair : training.pairs) {
    double sum = 0;
    for (const TrainingAngle& angle : pair.angles) {
      sum += angle.cosine;
      lowest = std::min(lowest, angle.cosine);
    }
    if (!pair.angles.empty()) means.push_back(sum / static_cast<double>(pair.angles.size()));
  }
  if (means.empty()) return;
  set(training.total, "gradient_cosine", means);
  training.total.set("gradient_cosine_lowest", lowest, Origin::measured);
}

}  // namespace

void summarize(Training& training) {
  if (training.pairs.empty()) return;
  set_paired(training, "final_loss", loss_at_end);
  set_paired(training, "held_out_loss", [](const TrainingCurve& c) { return c.held_out_loss; });
  set_paired(training, "accuracy", [](const TrainingCurve& c) { return c.accuracy; });
  set_angles(training);
  set_times(training);
  training.total.set("seeds", static_cast<double>(training.pairs.size()), Origin::measured);
}

}  // namespace hot::train
