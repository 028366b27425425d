#include "reports/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/advice.hpp"
#include "reports/findings.hpp"
#include "reports/html/assets.hpp"
#include "reports/html_data.hpp"
#include "reports/html_text.hpp"
#include "reports/key_findings.hpp"
#include "reports/text.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

const char* class_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::doubtful:
      return "doubtful";
    case Tone::bad:
      return "bad";
    case Tone::neutral:
      break;
  }
  return "neutral";
}

std::string file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

/// One of the large numbers of the first screen.
std::string tile(const std::string& title, const std::string& value, const std::string& more,
                 const Metric& metric) {
  return fmt::format(
      "<div class=\"tile\"><dt>{}</dt><dd class=\"value\">{}</dd><dd>{}</dd>"
      "<dd class=\"origin {}\">{}{}</dd></div>\n",
      title, html_text(value), html_text(more), to_string(metric.origin), to_string(metric.origin),
      metric.ci95 ? html_text(", 95 % ± " + value_text(*metric.ci95, metric.info->unit)) : "");
}

/// With a true minus sign.
std::string signed_percent(double fraction) {
  const std::string text = fmt::format("{:+.0f} %", 100 * fraction);
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string verified_tiles(const Metrics& total) {
  std::string text;
  if (const Metric* speedup = total.find("speedup")) {
    const bool noise = std::abs(speedup->value - 1) <= speedup->ci95.value_or(0);
    text += tile("Backward speed", fmt::format("{:.2f} ×", speedup->value),
                 noise                ? "the exact speed within the noise"
                 : speedup->value > 1 ? "as fast as exact"
                                      : "the exact speed: slower",
                 *speedup);
  }
  const Metric* exact = total.find("saved_bytes_exact");
  const Metric* plan = total.find("saved_bytes_plan");
  if (exact != nullptr && plan != nullptr && exact->value > 0) {
    text += tile("Kept for backward", signed_percent(plan->value / exact->value - 1),
                 fmt::format("{} instead of {}", bytes_text(plan->value), bytes_text(exact->value)),
                 *plan);
  }
  if (const Metric* error = total.find("gradient_error")) {
    const Metric* cosine = total.find("gradient_cosine");
    text += tile("Gradient error", fmt::format("{:.2g} %", 100 * error->value),
                 cosine == nullptr
                     ? "of all parameters together"
                     : fmt::format("cosine {:.4f}, all parameters together", cosine->value),
                 *error);
  }
  return text;
}

std::string predicted_tiles(const Metrics& predicted) {
  std::string text;
  for (const auto& [name, title, more] :
       {std::tuple{"cost", "Backward products", "of the exact cost"},
        std::tuple{"saved_fraction", "Layer inputs kept", "of FP32"},
        std::tuple{"largest_relative_error", "Largest error", "of one gradient"}}) {
    if (const Metric* metric = predicted.find(name)) {
      text += tile(title, fmt::format("{:.3g} %", 100 * metric->value), more, *metric);
    }
  }
  return text;
}

std::string first_screen(const Report& report) {
  const Verdict verdict = verdict_of(report);
  std::string tiles;
  if (report.verification) tiles = verified_tiles(report.verification->total);
  if (tiles.empty() && report.plan) tiles = predicted_tiles(report.plan->predicted);
  std::string findings;
  for (const KeyFinding& finding : key_findings(report)) {
    findings += fmt::format("<li><a href=\"#{}\">{}</a> {}</li>\n", finding.section,
                            html_text(finding.title), html_text(finding.sentence));
  }
  return fmt::format(
      "<header class=\"{}\">\n<p class=\"kicker\">hot-analyze · {}</p>\n<h1>{}</h1>\n"
      "<p class=\"advice\">{}</p>\n{}<p>{}</p>\n</header>\n{}",
      class_of(verdict.tone), html_text(file_name(report.model.path)), html_text(verdict.word),
      html_text(advice_text(report)),
      tiles.empty() ? "" : fmt::format("<dl class=\"tiles\">\n{}</dl>\n", tiles),
      html_text(coverage_text(report)),
      findings.empty() ? ""
                       : fmt::format("<section id=\"findings\"><h2>What matters</h2>\n"
                                     "<ol class=\"findings\">\n{}</ol></section>\n",
                                     findings));
}

/// What the script fills in; without data there is nothing to draw.
std::string charts(const Report& report) {
  if (!report.trace) return "";
  std::string text;
  if (report.errors) {
    text +=
        "<section id=\"errors\"><h2>Errors by layer and scheme</h2>\n"
        "<p>Relative error of one gradient; framed cells hold the plan's picks. Below 0.01 a "
        "gradient is hardly changed, at 1 the error is as large as the gradient.</p>\n"
        "<div data-draw=\"errors\"></div></section>\n";
  }
  if (report.verification) {
    text +=
        "<section id=\"costs\"><h2>Time and memory, before and after</h2>\n"
        "<div data-draw=\"costs\"></div></section>\n";
  }
  return text +
         "<section id=\"layers\"><h2>Every gradient</h2>\n"
         "<div data-draw=\"table\"></div></section>\n";
}

std::string metric_rows(const Metrics& metrics) {
  std::string rows;
  for (const MetricInfo& info : metric_infos()) {
    const Metric* metric = metrics.find(info.name);
    if (metric == nullptr) continue;
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td><span class=\"origin {}\">{}</span></td><td>{}</td></tr>\n",
        spaced(info.name), value_text(metric->value, info.unit),
        metric->ci95 ? "± " + value_text(*metric->ci95, info.unit) : "", to_string(metric->origin),
        to_string(metric->origin), html_text(info.description));
  }
  return rows;
}

std::string numbers(const Report& report) {
  std::string rows;
  if (report.verification) rows += metric_rows(report.verification->total);
  if (report.plan) rows += metric_rows(report.plan->predicted);
  rows += metric_rows(report.run);
  if (rows.empty()) return "";
  return fmt::format(
      "<section id=\"numbers\"><h2>The whole model in numbers</h2>\n<div class=\"scroll\">"
      "<table><thead><tr><th>number</th><th class=\"number\">value</th><th class=\"number\">95 %"
      "</th><th>origin</th><th>meaning</th></tr></thead>\n<tbody>\n{}</tbody></table></div>"
      "</section>\n",
      rows);
}

std::string notes(const Report& report) {
  std::string items;
  for (const std::string& sentence : findings(report)) {
    items += fmt::format("<li>{}</li>\n", html_text(sentence));
  }
  return items.empty()
             ? ""
             : fmt::format(
                   "<section id=\"notes\"><h2>What was noted</h2>\n<ul>\n{}</ul></section>\n",
                   items);
}

std::string environment(const Report& report) {
  std::string facts;
  for (const auto& [word, fact] : environment_facts(report)) {
    facts += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", word, html_text(fact));
  }
  return fmt::format(
      "<section id=\"environment\"><h2>Environment and protocol</h2>\n<dl class=\"facts\">\n{}</dl>"
      "\n<p><span class=\"origin measured\">measured</span> numbers come from runs on this "
      "machine, "
      "<span class=\"origin modelled\">modelled</span> ones from formulas of work and bytes, "
      "<span class=\"origin simulated\">simulated</span> ones from arithmetic that imitates a "
      "format "
      "which this machine lacks. Errors compare a gradient with the exact one inside a real "
      "backward pass; times are of exact and planned steps in pairs. An interval is the half width "
      "of 95 %; where none stands, none was estimated.</p></section>\n",
      facts);
}

}  // namespace

std::string write_html(const Report& report) {
  const std::string title =
      fmt::format("{} – {}", verdict_of(report).word, file_name(report.model.path));
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<main>\n{}<noscript><p>Charts and the table of gradients need JavaScript; all else stands "
      "here.</p></noscript>\n{}{}{}{}</main>\n<div id=\"tip\" role=\"status\" hidden></div>\n"
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}</script>\n"
      "</body>\n</html>\n",
      html_text(title), kHtmlStyle, first_screen(report), charts(report), numbers(report),
      notes(report), environment(report), html_json(html_data(report)), kHtmlScript);
}

}  // namespace hot::reports
