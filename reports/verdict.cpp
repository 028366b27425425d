#include "reports/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "reports/advice.hpp"
#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

/// The ANSI colour of a tone, 0 for bold alone.
int colour_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return 32;
    case Tone::doubtful:
      return 33;
    case Tone::bad:
      return 31;
    case Tone::neutral:
      break;
  }
  return 0;
}

Tone tone_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return Tone::good;
    case Outcome::slower:
    case Outcome::unsupported:
      return Tone::doubtful;
    case Outcome::over_limit:
    case Outcome::incorrect:
      return Tone::bad;
    case Outcome::simulated:
    case Outcome::not_run:
      break;
  }
  return Tone::neutral;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

void add(std::string& sentence, const std::string& clause, const Metric& metric) {
  const std::string interval =
      metric.ci95 ? fmt::format(", 95 % +-{}", value_text(*metric.ci95, metric.info->unit)) : "";
  fmt::format_to(std::back_inserter(sentence), "{}{} ({}{})", sentence.empty() ? "" : "; ", clause,
                 to_string(metric.origin), interval);
}

void add_speedup(std::string& sentence, const Metrics& total) {
  const Metric* speedup = total.find("speedup");
  if (speedup == nullptr) return;
  const bool is_noise = speedup->ci95 && std::abs(speedup->value - 1) <= *speedup->ci95;
  const std::string clause =
      is_noise
          ? fmt::format(
                "the planned layers' backward is as fast as exact within the noise, {:.2f} times",
                speedup->value)
      : speedup->value >= 1
          ? fmt::format("the planned layers' backward is {:.2f} times as fast as exact",
                        speedup->value)
          : fmt::format("the planned layers' backward is slower, {:.2f} times the exact speed",
                        speedup->value);
  add(sentence, clause, *speedup);
  if (const Metric* step = total.find("step_speedup"))
    add(sentence, fmt::format("the whole step {:.2f} times", step->value), *step);
}

void add_saved_bytes(std::string& sentence, const Metrics& total) {
  const Metric* exact = total.find("saved_bytes_exact");
  const Metric* plan = total.find("saved_bytes_plan");
  if (exact == nullptr || plan == nullptr || exact->value <= 0) return;
  add(sentence,
      fmt::format("saved bytes {} instead of {}, {:+.0f} %", bytes_text(plan->value),
                  bytes_text(exact->value), 100 * (plan->value / exact->value - 1)),
      *plan);
}

void add_gradient_error(std::string& sentence, const Metrics& total) {
  const Metric* error = total.find("gradient_error");
  if (error == nullptr) return;
  add(sentence, fmt::format("gradient error {}", value_text(error->value, "")), *error);
}

Verdict of_verification(const Verification& verification) {
  Verdict verdict{upper(to_string(verification.outcome)), tone_of(verification.outcome), ""};
  const Metric* error = verification.total.find("gradient_error");
  if (verdict.tone == Tone::good && error != nullptr && error->value >= kDoubtfulGradientError) {
    verdict.tone = Tone::doubtful;
  }
  add_speedup(verdict.sentence, verification.total);
  add_saved_bytes(verdict.sentence, verification.total);
  add_gradient_error(verdict.sentence, verification.total);
  if (!verification.reason.empty()) {
    verdict.sentence = verdict.sentence.empty()
                           ? verification.reason
                           : fmt::format("{}. {}", verification.reason, verdict.sentence);
  }
  return verdict;
}

Verdict of_plan(const Plan& plan) {
  Verdict verdict{"PLANNED, NOT VERIFIED", Tone::doubtful, ""};
  for (const auto& [name, text] :
       {std::pair{"cost", "the backward products cost {} of the exact ones"},
        std::pair{"saved_fraction", "layer inputs kept for backward take {} of FP32"},
        std::pair{"largest_relative_error", "largest error of one gradient {}"}}) {
    if (const Metric* metric = plan.predicted.find(name)) {
      add(verdict.sentence,
          fmt::format(fmt::runtime(text), value_text(metric->value, metric->info->unit)), *metric);
    }
  }
  return verdict;
}

Verdict of_profile(const Metrics& metrics) {
  Verdict verdict{"PROFILED", Tone::neutral, ""};
  const Metric& step = *metrics.find("step_exact_ms");
  add(verdict.sentence, fmt::format("a step takes {}", value_text(step.value, "ms")), step);
  const Metric& share = *metrics.find("eligible_share");
  add(verdict.sentence,
      fmt::format("the backward products that a plan can change are {:.0f} % of it",
                  100 * share.value),
      share);
  const Metric& limit = *metrics.find("amdahl_limit");
  add(verdict.sentence,
      fmt::format("were they free, it would be {:.2f} times as fast", limit.value), limit);
  if (const Metric* speedup = metrics.find("step_speedup"))
    add(verdict.sentence, fmt::format("with the plan it is {:.2f} times as fast", speedup->value),
        *speedup);
  return verdict;
}

}  // namespace

Verdict verdict_of(const Report& report) {
  if (report.interrupted) {
    return {"INTERRUPTED", Tone::bad, "the run did not end; this is what was found until then"};
  }
  if (report.verification) return of_verification(*report.verification);
  if (report.profile && report.profile->time) return of_profile(report.profile->time->metrics);
  if (report.plan) return of_plan(*report.plan);
  if (report.errors) return {"MEASURED", Tone::neutral, "the run ended before a plan was made"};
  if (report.trace) return {"TRACED", Tone::neutral, "the run ended before anything was measured"};
  return {"NOTHING TO REPORT", Tone::neutral, "the run ended before the model was traced"};
}

std::string coverage_text(const Report& report) {
  if (!report.trace) return "";
  const auto& layers = report.trace->layers;
  std::string text = fmt::format(
      "{} of {} layers are eligible",
      std::count_if(layers.begin(), layers.end(), [](const auto& l) { return l.eligible; }),
      layers.size());
  if (!report.plan) return text + ".";
  int computed = 0;
  int changed = 0;
  for (const LayerTrace& layer : layers) {
    const LayerPlan* planned = report.plan->find(layer.name);
    if (!layer.eligible || planned == nullptr) continue;
    computed += (layer.path(Path::grad_input).calls > 0 ? 1 : 0) +
                (layer.path(Path::grad_weight).calls > 0 ? 1 : 0);
    changed += (planned->grad_input.is_exact() ? 0 : 1) + (planned->grad_weight.is_exact() ? 0 : 1);
  }
  return fmt::format("{}; the plan (policy {}) changes {} of their {} gradients.", text,
                     report.plan->policy, changed, computed);
}

std::string verdict_section(const Report& report, const Style& style) {
  const Verdict verdict = verdict_of(report);
  std::string text = emphasised(verdict.word, style, colour_of(verdict.tone)) + '\n';
  if (!verdict.sentence.empty()) text += paragraph("  ", verdict.sentence + ".", style.width);
  if (report.trace) text += paragraph("  ", coverage_text(report), style.width);
  text += paragraph("  ", advice_text(report), style.width);
  return text;
}

std::string metrics_section(const Report& report, const Style& style) {
  Table table({{"whole model"},
               {"value", Table::Align::right},
               {"95 %", Table::Align::right},
               {"origin"},
               {"meaning", Table::Align::left, true, true}});
  const auto add_all = [&](const Metrics& metrics) {
    for (const MetricInfo& info : metric_infos()) {
      const Metric* metric = metrics.find(info.name);
      if (metric == nullptr) continue;
      table.row({spaced(info.name), value_text(metric->value, info.unit),
                 metric->ci95 ? "+-" + value_text(*metric->ci95, info.unit) : "",
                 to_string(metric->origin), std::string(info.description)});
    }
  };
  if (report.verification) add_all(report.verification->total);
  if (report.plan) add_all(report.plan->predicted);
  add_all(report.run);
  return table.empty() ? "" : table.text(style);
}

}  // namespace hot::reports
