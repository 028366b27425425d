#include "reports/training_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/text.hpp"

namespace hot::reports {
namespace {

std::string signed_text(const Metric& difference) {
  const std::string text = value_text(std::abs(difference.value), difference.info->unit);
  return (difference.value < 0 ? "-" : "+") + text;
}

/// "Held-out accuracy 98.1 % by the plan, 98.3 % exact; difference -0.2 points (measured, 95 %
/// +-0.4 points, 3 seeds)".
std::string sentence(const Training& training, const Metric& difference, const char* what,
                     const std::string& name) {
  const Metric* exact = training.total.find(name + "_exact");
  const Metric* plan = training.total.find(name + "_plan");
  const std::size_t seeds = training.pairs.size();
  return fmt::format("{} {} by the plan, {} exact; difference {} (measured{}, {} seed{})", what,
                     value_text(plan->value, plan->info->unit),
                     value_text(exact->value, exact->info->unit), signed_text(difference),
                     difference.ci95 ? fmt::format(", 95 % +-{}", value_text(*difference.ci95,
                                                                             difference.info->unit))
                                     : "",
                     seeds, seeds == 1 ? "" : "s");
}

/// "by the plan", "exactly and by the plan" …: the runs whose loss is no finite number at the end;
/// empty where all are.
std::string diverged(const Training& training) {
  std::string which;
  for (const auto& [name, word] :
       {std::pair{"final_loss_exact", "exactly"}, {"final_loss_plan", "by the plan"}}) {
    const Metric* loss = training.total.find(name);
    if (loss == nullptr || std::isfinite(loss->value)) continue;
    which += fmt::format("{}{}", which.empty() ? "" : " and ", word);
  }
  return which;
}

}  // namespace

Verdict training_verdict(const Training& training) {
  if (training.pairs.empty()) return {"NOT TRAINED", Tone::neutral, "No pair of runs was finished"};
  if (const std::string which = diverged(training); !which.empty()) {
    return {"DIVERGED", Tone::bad,
            fmt::format("Trained {}, the loss is no finite number at the end (measured); a smaller "
                        "--rate may help where the exact runs diverge too",
                        which)};
  }
  for (const auto& [name, what] : {std::pair{"accuracy", "Held-out accuracy"},
                                   {"held_out_loss", "Held-out loss"},
                                   {"final_loss", "Training loss at the end"}}) {
    const Metric* difference = training.total.find(std::string(name) + "_difference");
    if (difference == nullptr) continue;
    const std::string text = sentence(training, *difference, what, name);
    if (!std::isfinite(difference->value)) return {"DIVERGED", Tone::bad, text};
    if (!difference->ci95) return {"ONE PAIR OF RUNS", Tone::neutral, text};
    if (std::abs(difference->value) <= *difference->ci95)
      return {"NO DIFFERENCE BEYOND NOISE", Tone::good, text};
    const bool higher = difference->info->better == Better::higher;
    const bool better = (difference->value > 0) == higher;
    return {better ? "BETTER THAN EXACT" : "WORSE THAN EXACT", better ? Tone::good : Tone::bad,
            text};
  }
  return {"NOT TRAINED", Tone::neutral, ""};
}

std::string training_setting(const Training& training) {
  return fmt::format("{} steps a run, {} seed{}; {} minibatch{} in random order, {} held out; {}",
                     training.steps, training.pairs.size(), training.pairs.size() == 1 ? "" : "s",
                     training.training_batches, training.training_batches == 1 ? "" : "es",
                     training.held_out_batches, training.optimizer);
}

std::vector<CurvePoint> curve_points(const Training& training, std::int64_t most) {
  std::vector<CurvePoint> points;
  if (training.pairs.empty() || training.steps < 1) return points;
  const std::int64_t width = std::max<std::int64_t>(1, (training.steps + most - 1) / most);
  for (std::int64_t first = 0; first < training.steps; first += width) {
    CurvePoint point{first, 0, 0, std::nullopt};
    const std::int64_t last = std::min(first + width, training.steps);
    const auto n = static_cast<double>((last - first) * std::ssize(training.pairs));
    double cosines = 0;
    std::int64_t count = 0;
    for (const TrainingPair& pair : training.pairs) {
      for (std::int64_t i = first; i < last; ++i) {
        point.exact += pair.exact.losses[static_cast<std::size_t>(i)] / n;
        point.plan += pair.plan.losses[static_cast<std::size_t>(i)] / n;
      }
      for (const TrainingAngle& angle : pair.angles) {
        if (angle.step < first || angle.step >= last) continue;
        cosines += angle.cosine;
        ++count;
      }
    }
    if (count > 0) point.cosine = cosines / static_cast<double>(count);
    points.push_back(point);
  }
  return points;
}

}  // namespace hot::reports
