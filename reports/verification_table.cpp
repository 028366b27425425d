#include <fmt/format.h>

#include <algorithm>

#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

bool is_fine(const LayerVerification& layer) {
  return layer.outcome == Outcome::passed || layer.outcome == Outcome::not_run;
}

/// "saved bytes exact" in two lines, the last word below.
std::string title_of(const MetricInfo& info) {
  std::string title(info.name);
  if (const auto last = title.rfind('_'); last != std::string::npos) title[last] = '\n';
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

/// Metrics that at least one layer has, in the order of metric_infos(), as many as fit into `room`
/// columns.
std::vector<const MetricInfo*> shown_metrics(const Verification& verification, std::size_t room) {
  constexpr std::size_t kValue = 8;  // of a value and its unit
  constexpr std::size_t kGap = 2;
  std::vector<const MetricInfo*> shown;
  for (const MetricInfo& info : metric_infos()) {
    const bool used = std::any_of(
        verification.layers.begin(), verification.layers.end(),
        [&](const LayerVerification& l) { return l.metrics.find(info.name) != nullptr; });
    const std::string title = title_of(info);
    const std::size_t width = std::max(std::min(title.find('\n'), title.size()), kValue) + kGap;
    if (!used || width > room) continue;
    room -= width;
    shown.push_back(&info);
  }
  return shown;
}

Table layer_table(const Verification& verification, const Style& style) {
  constexpr std::size_t kFixed = 22 + 13 + 10;  // layer, outcome and products with their gaps
  const auto shown = shown_metrics(verification, style.width > kFixed ? style.width - kFixed : 0);
  std::vector<Table::Column> columns = {
      {"layer", Table::Align::left, true}, {"outcome"}, {"products", Table::Align::right}};
  for (const MetricInfo* info : shown) {
    columns.push_back({title_of(*info), Table::Align::right});
  }
  Table table(columns);
  for (const LayerVerification& layer : verification.layers) {
    if (layer.outcome == Outcome::not_run) continue;
    std::vector<std::string> cells = {
        layer.name, to_string(layer.outcome),
        fmt::format("{}/{}", layer.kernel_calls, layer.expected_calls)};
    for (const MetricInfo* info : shown) {
      const Metric* metric = layer.metrics.find(info->name);
      cells.push_back(metric == nullptr ? "" : value_text(metric->value, info->unit));
    }
    table.row(cells);
    if (!layer.reason.empty()) table.remark(layer.reason);
  }
  return table;
}

std::string summary(const Verification& verification) {
  std::int64_t calls = 0;
  std::int64_t run = 0;
  for (const LayerVerification& layer : verification.layers) {
    if (layer.outcome == Outcome::not_run) continue;
    ++run;
    calls += layer.kernel_calls;
  }
  const bool all_fine =
      std::all_of(verification.layers.begin(), verification.layers.end(), is_fine);
  if (run == 0) return "No layer went through the plan's kernels.";
  if (!all_fine) return "products: backward products through the plan's kernels / expected.";
  return fmt::format(
      "All {} planned layers passed; {} backward products really went through the plan's kernels.",
      run, calls);
}

}  // namespace

std::string verification_section(const Report& report, const Style& style) {
  if (!report.verification || report.verification->layers.empty()) return "";
  const Table table = layer_table(*report.verification, style);
  const std::string sentence = paragraph("", summary(*report.verification), style.width);
  return table.empty() ? sentence : table.text(style) + sentence;
}

}  // namespace hot::reports
