#include <fmt/format.h>

#include "reports/findings.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"
#include "reports/training_formats.hpp"
#include "reports/training_text.hpp"

namespace hot::reports {
namespace {

constexpr std::int64_t kShownPoints = 10;

std::string head(const Training& training, const Style& style) {
  const Verdict verdict = training_verdict(training);
  const int colour = verdict.tone == Tone::good ? 32 : verdict.tone == Tone::bad ? 31 : 33;
  std::string text = emphasised(verdict.word, style, colour) + '\n';
  if (!verdict.sentence.empty()) text += paragraph("  ", verdict.sentence + ".", style.width);
  return text + paragraph("  ", training_setting(training) + ".", style.width);
}

std::string numbers(const Metrics& total, const Style& style) {
  Table table({{"training", Table::Align::left, true},
               {"value", Table::Align::right},
               {"95 %", Table::Align::right},
               {"origin"},
               {"meaning", Table::Align::left, true, true}});
  for (const MetricInfo& info : metric_infos()) {
    const Metric* metric = total.find(info.name);
    if (metric == nullptr) continue;
    table.row({spaced(info.name), value_text(metric->value, info.unit),
               metric->ci95 ? "+-" + value_text(*metric->ci95, info.unit) : "",
               to_string(metric->origin), std::string(info.description)});
  }
  return table.empty() ? "" : '\n' + table.text(style);
}

std::string curves(const Training& training, const Style& style) {
  Table table({{"from step", Table::Align::right},
               {"loss, exact", Table::Align::right},
               {"by the plan", Table::Align::right},
               {"gradient cosine", Table::Align::right}});
  for (const CurvePoint& point : curve_points(training, kShownPoints)) {
    table.row({std::to_string(point.step), value_text(point.exact, ""), value_text(point.plan, ""),
               point.cosine ? fmt::format("{:.4f}", *point.cosine) : ""});
  }
  if (table.empty()) return "";
  table.remark("means over the steps from there on and over seeds, measured");
  return '\n' + table.text(style);
}

std::string notes(const Report& report, const Style& style) {
  std::string text;
  for (const auto* list : {&report.training->notes, &report.model.notes}) {
    for (const std::string& note : *list) text += paragraph("- ", printable(note), style.width);
  }
  return text.empty() ? "" : '\n' + text;
}

std::string environment(const Report& report, const Style& style) {
  std::string text;
  for (const auto& [word, fact] : environment_facts(report))
    text += paragraph(fmt::format("{:<10}", word), fact, style.width);
  return '\n' + text;
}

}  // namespace

std::string write_training(const Report& report, const Style& given) {
  Style style = given;
  style.width = std::max(style.width, kMinWidth);
  const Training& training = report.training.value();
  return head(training, style) + numbers(training.total, style) + curves(training, style) +
         notes(report, style) + environment(report, style);
}

const std::vector<Format>& training_formats() {
  static const auto trained = [](const Report& report) { return report.training.has_value(); };
  static const std::vector<Format> table = {
      {"json", "everything as JSON", "--json", write_training_json, trained},
      {"csv", "the curves as CSV, one row a seed and step", "--csv", write_training_csv, trained},
      {"html", "curves and numbers as one HTML page", "--html", write_training_html, trained},
      {"terminal", "the training for people", "", write_training, trained},
  };
  return table;
}

}  // namespace hot::reports
