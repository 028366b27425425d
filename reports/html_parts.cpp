#include "reports/html_parts.hpp"

#include <fmt/format.h>

#include "reports/findings.hpp"
#include "reports/html/assets.hpp"
#include "reports/html_text.hpp"
#include "reports/text.hpp"

namespace hot::reports {

const char* html_class(Tone tone) {
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

std::string html_file_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::string html_tile(const std::string& title, const std::string& value, const std::string& more,
                      const Metric& metric) {
  return fmt::format(
      "<div class=\"tile\"><dt>{}</dt><dd class=\"value\">{}</dd><dd>{}</dd>"
      "<dd class=\"origin {}\">{}{}</dd></div>\n",
      title, html_text(value), html_text(more), to_string(metric.origin), to_string(metric.origin),
      metric.ci95 ? html_text(", 95 % ± " + value_text(*metric.ci95, metric.info->unit)) : "");
}

std::string html_metric_rows(const Metrics& metrics) {
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

std::string html_numbers(const std::string& title, const std::string& rows) {
  if (rows.empty()) return "";
  return fmt::format(
      "<section id=\"numbers\"><h2>{}</h2>\n<div class=\"scroll\">"
      "<table><thead><tr><th>number</th><th class=\"number\">value</th><th class=\"number\">95 %"
      "</th><th>origin</th><th>meaning</th></tr></thead>\n<tbody>\n{}</tbody></table></div>"
      "</section>\n",
      html_text(title), rows);
}

std::string html_environment(const Report& report) {
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

std::string html_page(const std::string& title, const std::string& body, const std::string& end) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" "
      "href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<main>\n{}</main>\n{}</body>\n</html>\n",
      html_text(title), kHtmlStyle, body, end);
}

}  // namespace hot::reports
