#include "reports/markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/advice.hpp"
#include "reports/findings.hpp"
#include "reports/plan_facts.hpp"
#include "reports/text.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

const char* mark_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "✅";
    case Tone::doubtful:
      return "⚠️";
    case Tone::bad:
      return "❌";
    case Tone::neutral:
      break;
  }
  return "ℹ️";
}

std::string head(const Report& report) {
  const Verdict verdict = verdict_of(report);
  std::string text = fmt::format("### {} hot-analyze: {}\n\n", mark_of(verdict.tone), verdict.word);
  text += fmt::format("**{}**\n\n", markdown_text(advice_text(report)));
  if (!verdict.sentence.empty()) text += markdown_text(verdict.sentence) + ".\n";
  const std::string coverage = coverage_text(report);
  if (!coverage.empty()) text += markdown_text(coverage) + '\n';
  return text;
}

void add_metrics(const Metrics& metrics, std::string& text) {
  for (const MetricInfo& info : metric_infos()) {
    const Metric* metric = metrics.find(info.name);
    if (metric == nullptr) continue;
    const std::string interval = metric->ci95 ? "± " + value_text(*metric->ci95, info.unit) : "";
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} | {} | {} |\n", spaced(info.name),
                   value_text(metric->value, info.unit), interval, to_string(metric->origin),
                   markdown_text(info.description));
  }
}

std::string metrics(const Report& report) {
  std::string rows;
  if (report.verification) add_metrics(report.verification->total, rows);
  if (report.plan) add_metrics(report.plan->predicted, rows);
  add_metrics(report.run, rows);
  if (rows.empty()) return "";
  return "\n| whole model | value | 95 % | origin | meaning |\n|---|---:|---:|---|---|\n" + rows;
}

/// How many layers share each pair of schemes, the commonest pair first.
std::string pairs(const Plan& plan) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const LayerPlan& layer : plan.layers) {
    ++counts[{to_string(layer.grad_input), to_string(layer.grad_weight)}];
  }
  std::vector<std::pair<int, std::pair<std::string, std::string>>> order;
  for (const auto& [pair, count] : counts) order.push_back({-count, pair});
  std::sort(order.begin(), order.end());
  std::string text = "\n| layers | input gradient | weight gradient |\n|---:|---|---|\n";
  for (const auto& [count, pair] : order) {
    fmt::format_to(std::back_inserter(text), "| {} | {} | {} |\n", -count,
                   markdown_code(pair.first), markdown_code(pair.second));
  }
  return text;
}

/// The plan's rows, as many as fit into `room` bytes.
std::string layers(const Report& report, std::size_t room) {
  const Plan& plan = *report.plan;
  std::string text = fmt::format(
      "\n<details><summary>{} layers, one by one</summary>\n\n| layer | input gradient | error | "
      "weight gradient | error |\n|---|---|---:|---|---:|\n",
      plan.layers.size());
  std::size_t left = plan.layers.size();
  for (const LayerPlan& layer : plan.layers) {
    const std::string row =
        fmt::format("| {} | {} | {} | {} | {} |\n", markdown_code(layer.name),
                    markdown_code(to_string(layer.grad_input)),
                    error_text(report, layer.name, Path::grad_input, layer.grad_input),
                    markdown_code(to_string(layer.grad_weight)),
                    error_text(report, layer.name, Path::grad_weight, layer.grad_weight));
    if (text.size() + row.size() > room) break;
    text += row;
    --left;
  }
  text += fmt::format("\n{}\n", kErrorLegend);
  if (left > 0) text += fmt::format("{} more layers stand in the JSON report.\n", left);
  return text + "</details>\n";
}

std::string list(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return "";
  constexpr std::size_t kShown = 40;
  std::string text =
      fmt::format("\n<details><summary>{} ({})</summary>\n\n", title, sentences.size());
  for (std::size_t i = 0; i < std::min(kShown, sentences.size()); ++i) {
    text += fmt::format("- {}\n", elided(markdown_text(sentences[i]), 600));
  }
  if (sentences.size() > kShown) {
    text += fmt::format("- {} more stand in the JSON report\n", sentences.size() - kShown);
  }
  return text + "</details>\n";
}

std::vector<std::string> environment(const Report& report) {
  std::vector<std::string> facts;
  for (const auto& [word, fact] : environment_facts(report)) {
    facts.push_back(fmt::format("{}: {}", word, fact));
  }
  return facts;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view(R"(\`*_[]<>|#~&)").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string markdown_code(std::string_view text) {
  std::string result = printable(text);
  // Backquotes would end the span and pipes the table's cell; neither occurs in schemes.
  std::replace(result.begin(), result.end(), '`', '\'');
  for (auto at = result.find('|'); at != std::string::npos; at = result.find('|', at + 2)) {
    result.insert(at, 1, '\\');
  }
  return result.empty() ? "" : fmt::format("`{}`", elided(result, 200));
}

std::string write_markdown(const Report& report) {
  const std::string before = head(report) + metrics(report);
  const std::string after =
      list("Findings", findings(report)) + list("Environment", environment(report));
  if (!report.plan || report.plan->layers.empty()) return before + after;
  const std::string summary = before + pairs(*report.plan);
  const std::size_t used = summary.size() + after.size() + 200;  // 200: the table's own end
  return summary + layers(report, kMarkdownLimit > used ? kMarkdownLimit - used : 0) + after;
}

}  // namespace hot::reports
