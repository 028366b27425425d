#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/html_parts.hpp"
#include "reports/html_text.hpp"
#include "reports/text.hpp"
#include "reports/training_formats.hpp"
#include "reports/training_text.hpp"

namespace hot::reports {
namespace {

constexpr std::int64_t kDrawn = 120;  // points of a curve
constexpr double kWidth = 900, kHeight = 300, kLeft = 70, kRight = 15, kTop = 12, kBottom = 42;

std::string tiles(const Metrics& total) {
  std::string text;
  for (const auto& [name, title] : {std::pair{"accuracy", "Held-out accuracy"},
                                    {"held_out_loss", "Held-out loss"},
                                    {"final_loss", "Training loss at the end"}}) {
    const Metric* difference = total.find(fmt::format("{}_difference", name));
    if (difference == nullptr) continue;
    const Metric& exact = *total.find(fmt::format("{}_exact", name));
    const Metric& plan = *total.find(fmt::format("{}_plan", name));
    const std::string value = value_text(std::abs(difference->value), difference->info->unit);
    text +=
        html_tile(title, (difference->value < 0 ? "−" : "+") + value,
                  fmt::format("{} by the plan, {} exact", value_text(plan.value, plan.info->unit),
                              value_text(exact.value, exact.info->unit)),
                  *difference);
  }
  if (const Metric* speedup = total.find("step_speedup")) {
    const bool noise = std::abs(speedup->value - 1) <= speedup->ci95.value_or(0);
    text +=
        html_tile("Step, forward and backward", fmt::format("{:.2f} ×", speedup->value),
                  noise ? "the exact speed, equal within the noise" : "the exact speed", *speedup);
  }
  return text;
}

/// A number axis from 0 or below the lowest value to above the highest.
struct Axis {
  double low, high;
  [[nodiscard]] double y(double value) const {
    return kTop + (high - value) / (high - low) * (kHeight - kTop - kBottom);
  }
};

double x_of(std::int64_t step, std::int64_t steps) {
  return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(step) /
                     static_cast<double>(std::max<std::int64_t>(1, steps - 1));
}

std::string grid(const Axis& axis, std::int64_t steps, const std::string& title) {
  std::string text;
  for (int i = 0; i <= 4; ++i) {
    const double value = axis.low + (axis.high - axis.low) * i / 4;
    const double y = axis.y(value);
    text += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" "
        "style=\"stroke:var(--line)\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.3g}</text>\n",
        kLeft, kWidth - kRight, y, kLeft - 6, y + 4, value);
  }
  for (int i = 0; i <= 4; ++i) {
    const std::int64_t step = (steps - 1) * i / 4;
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                        x_of(step, steps), kHeight - 22, step);
  }
  return text + fmt::format("<text x=\"{}\" y=\"{}\">{}; step →</text>\n", kLeft, kHeight - 4,
                            html_text(title));
}

std::string line(const std::string& points, const char* style) {
  return fmt::format("<polyline points=\"{}\" fill=\"none\" style=\"{}\"/>\n", points, style);
}

std::string chart(const std::string& label, const std::string& inside) {
  return fmt::format(
      "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" style=\"max-width:60rem\">\n"
      "{}</svg>\n",
      html_text(label), kWidth, kHeight, inside);
}

constexpr const char* kExactLine = "stroke:var(--quiet);stroke-width:2;stroke-dasharray:6 4";
constexpr const char* kPlanLine = "stroke:var(--accent);stroke-width:2";

std::string key(const char* style, const char* word) {
  return fmt::format(
      "<svg width=\"36\" height=\"12\" aria-hidden=\"true\"><line x1=\"0\" x2=\"36\" y1=\"6\" "
      "y2=\"6\" style=\"{}\"/></svg> {} ",
      style, word);
}

std::string loss_chart(const Training& training) {
  const auto points = curve_points(training, kDrawn);
  Axis axis{0, 0};
  std::string exact, plan;
  for (const CurvePoint& p : points) {
    if (!std::isfinite(p.exact) || !std::isfinite(p.plan)) break;
    axis.high = std::max({axis.high, p.exact, p.plan});
    axis.low = std::min({axis.low, p.exact, p.plan});
  }
  if (axis.high <= axis.low) axis.high = axis.low + 1;
  for (const CurvePoint& p : points) {
    if (!std::isfinite(p.exact) || !std::isfinite(p.plan)) break;
    const double x = x_of(p.step, training.steps);
    exact += fmt::format("{:.1f},{:.1f} ", x, axis.y(p.exact));
    plan += fmt::format("{:.1f},{:.1f} ", x, axis.y(p.plan));
  }
  return fmt::format(
      "<section id=\"curves\"><h2>Training loss</h2>\n<p>{}{}(means over {} seeds, measured)</p>\n"
      "{}</section>\n",
      key(kExactLine, "exact"), key(kPlanLine, "by the plan"), training.pairs.size(),
      chart("Training loss by step, exact and by the plan",
            grid(axis, training.steps, "loss") + line(plan, kPlanLine) + line(exact, kExactLine)));
}

std::string cosine_chart(const Training& training) {
  std::string points;
  double low = 1;
  const auto all = curve_points(training, training.steps);
  for (const CurvePoint& p : all) low = p.cosine ? std::min(low, *p.cosine) : low;
  const Axis axis{std::isfinite(low) ? std::min(0.9, std::floor(low * 10) / 10) : 0, 1};
  for (const CurvePoint& p : all) {
    if (p.cosine && std::isfinite(*p.cosine))
      points += fmt::format("{:.1f},{:.1f} ", x_of(p.step, training.steps), axis.y(*p.cosine));
  }
  if (points.empty()) return "";
  return fmt::format(
      "<section id=\"cosines\"><h2>Direction of the planned gradient</h2>\n<p>Cosine of all "
      "parameter gradients together to the exact ones, at the planned run's weights, on the same "
      "minibatch (mean over seeds, measured); 1 is the same direction.</p>\n{}</section>\n",
      chart("Gradient cosine by step",
            grid(axis, training.steps, "cosine") + line(points, kPlanLine)));
}

std::string notes(const Report& report) {
  std::string items;
  for (const auto* list : {&report.training->notes, &report.model.notes}) {
    for (const std::string& note : *list) items += fmt::format("<li>{}</li>\n", html_text(note));
  }
  if (items.empty()) return "";
  return fmt::format("<section id=\"notes\"><h2>What was noted</h2>\n<ul>\n{}</ul></section>\n",
                     items);
}

}  // namespace

std::string write_training_html(const Report& report, const Style&) {
  const Training& training = report.training.value();
  const Verdict verdict = training_verdict(training);
  const std::string head = fmt::format(
      "<header class=\"{}\">\n<p class=\"kicker\">hot-analyze train · {}</p>\n<h1>{}</h1>\n"
      "<p class=\"advice\">{}.</p>\n<dl class=\"tiles\">\n{}</dl>\n<p>{}.</p>\n</header>\n",
      html_class(verdict.tone), html_text(html_file_name(report.model.path)),
      html_text(verdict.word), html_text(verdict.sentence), tiles(training.total),
      html_text(training_setting(training)));
  return html_page(fmt::format("{} – {}", verdict.word, html_file_name(report.model.path)),
                   head + loss_chart(training) + cosine_chart(training) +
                       html_numbers("The training in numbers", html_metric_rows(training.total)) +
                       notes(report) + html_environment(report),
                   "");
}

}  // namespace hot::reports
