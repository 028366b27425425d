#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/scheme_parts.hpp"
#include "reports/plan_facts.hpp"
#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

/// The reason that most choices of schemes have, so that it is said once.
std::string commonest_constraint(const Plan& plan) {
  std::map<std::string, int> counts;
  for (const LayerPlan& layer : plan.layers) {
    if (!layer.grad_input.is_exact()) ++counts[layer.why_grad_input.constraint];
    if (!layer.grad_weight.is_exact()) ++counts[layer.why_grad_weight.constraint];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? "" : most->first;
}

}  // namespace

std::string product_text(const PathWork& work) {
  if (work.gemms.empty()) return "-";
  const GemmShape& shape = work.gemms[0];
  std::string text = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  if (shape.batch != 1) text = fmt::format("{}*({})", shape.batch, text);
  if (work.gemms.size() > 1) text += fmt::format(" +{}", work.gemms.size() - 1);
  return text;
}

std::string plan_section(const Report& report, const Style& style) {
  if (!report.plan || report.plan->layers.empty()) return "";
  Table table({{"layer", Table::Align::left, true},
               {"gradient"},
               {"m x n x k", Table::Align::right},
               {"scheme"},
               {"error", Table::Align::right}});
  const std::string usual = commonest_constraint(*report.plan);
  for (const LayerPlan& layer : report.plan->layers) {
    const LayerTrace* trace = traced(report, layer.name);
    const auto product = [&](Path path) {
      return trace == nullptr ? "?" : product_text(trace->path(path));
    };
    const std::string kind = trace == nullptr ? "" : fmt::format("  {}", to_string(trace->kind));
    table.row({layer.name, "input", product(Path::grad_input), to_string(layer.grad_input),
               error_text(report, layer.name, Path::grad_input, layer.grad_input)});
    table.row({kind, "weight", product(Path::grad_weight), to_string(layer.grad_weight),
               error_text(report, layer.name, Path::grad_weight, layer.grad_weight)});
    for (const auto& [name, why] :
         {std::pair{"input", &layer.why_grad_input}, std::pair{"weight", &layer.why_grad_weight}}) {
      if (why->constraint != usual && !why->constraint.empty()) {
        table.remark(fmt::format("{}: {}", name, why_text(*why)));
      }
    }
  }
  std::string text = paragraph("", kErrorLegend, style.width);
  if (!usual.empty()) {
    text += paragraph("", fmt::format("Why, where nothing is said: {}.", usual), style.width);
  }
  return table.text(style) + text;
}

std::string errors_section(const Report& report, const Style& style) {
  if (!report.errors || report.plan) return "";
  using Key = std::pair<std::string, Path>;
  std::vector<Key> keys;
  std::map<Key, std::map<hot::Format, double>> lowest;
  std::vector<Table::Column> columns = {{"layer", Table::Align::left, true}, {"gradient"}};
  std::map<hot::Format, std::string> titles = {{hot::Format::none, "float"}};
  for (const ErrorRow& row : report.errors->rows) {
    const Metric* error = row.metrics.find("relative_error");
    if (error == nullptr || row.scheme.is_exact()) continue;
    const Key key{row.layer, row.path};
    if (!lowest.contains(key)) keys.push_back(key);
    const auto [entry, is_new] = lowest[key].try_emplace(row.scheme.format, error->value);
    if (!is_new) entry->second = std::min(entry->second, error->value);
    if (bits(row.scheme.format) > 0) {
      titles[row.scheme.format] = hot::to_string(row.scheme.format);
    }
  }
  for (const auto& [format, title] : titles) columns.push_back({title, Table::Align::right});
  Table table(columns);
  for (const Key& key : keys) {
    std::vector<std::string> cells = {key.first,
                                      key.second == Path::grad_input ? "input" : "weight"};
    for (const auto& [format, title] : titles) {
      const auto found = lowest[key].find(format);
      cells.push_back(found == lowest[key].end() ? "-" : value_text(found->second, ""));
    }
    table.row(cells);
  }
  if (table.empty()) return "";
  return table.text(style) +
         paragraph("",
                   "Lowest relative error of any scheme of the format, measured; --json has all.",
                   style.width);
}

}  // namespace hot::reports
