#include "reports/html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/advice.hpp"
#include "reports/findings.hpp"
#include "reports/front_svg.hpp"
#include "reports/html/assets.hpp"
#include "reports/html_data.hpp"
#include "reports/html_parts.hpp"
#include "reports/html_text.hpp"
#include "reports/key_findings.hpp"
#include "reports/text.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

/// With a true minus sign.
std::string signed_percent(double fraction) {
  const std::string text = fmt::format("{:+.0f} %", 100 * fraction);
  return text.starts_with('-') ? "−" + text.substr(1) : text;
}

std::string verified_tiles(const Metrics& total) {
  std::string text;
  if (const Metric* speedup = total.find("speedup")) {
    const bool noise = std::abs(speedup->value - 1) <= speedup->ci95.value_or(0);
    text += html_tile("Backward speed", fmt::format("{:.2f} ×", speedup->value),
                      noise                ? "the exact speed within the noise"
                      : speedup->value > 1 ? "as fast as exact"
                                           : "the exact speed: slower",
                      *speedup);
  }
  const Metric* exact = total.find("saved_bytes_exact");
  const Metric* plan = total.find("saved_bytes_plan");
  if (exact != nullptr && plan != nullptr && exact->value > 0) {
    text += html_tile(
        "Kept for backward", signed_percent(plan->value / exact->value - 1),
        fmt::format("{} instead of {}", bytes_text(plan->value), bytes_text(exact->value)), *plan);
  }
  if (const Metric* error = total.find("gradient_error")) {
    const Metric* cosine = total.find("gradient_cosine");
    text += html_tile("Gradient error", fmt::format("{:.2g} %", 100 * error->value),
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
      text += html_tile(title, fmt::format("{:.3g} %", 100 * metric->value), more, *metric);
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
      html_class(verdict.tone), html_text(html_file_name(report.model.path)),
      html_text(verdict.word), html_text(advice_text(report)),
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

std::string numbers(const Report& report) {
  std::string rows;
  if (report.verification) rows += html_metric_rows(report.verification->total);
  if (report.plan) rows += html_metric_rows(report.plan->predicted);
  return html_numbers("The whole model in numbers", rows + html_metric_rows(report.run));
}

std::string front_html(const Report& report) {
  return report.plan ? front_svg(*report.plan) : "";
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

}  // namespace

std::string write_html(const Report& report) {
  const std::string title =
      fmt::format("{} – {}", verdict_of(report).word, html_file_name(report.model.path));
  return html_page(title,
                   fmt::format("{}<noscript><p>Charts and the table of gradients need JavaScript; "
                               "all else stands here.</p></noscript>\n{}{}{}{}",
                               first_screen(report), charts(report) + front_html(report),
                               numbers(report), notes(report), html_environment(report)),
                   fmt::format("<div id=\"tip\" role=\"status\" hidden></div>\n"
                               "<script type=\"application/json\" id=\"data\">{}</script>\n"
                               "<script>\n{}</script>\n",
                               html_json(html_data(report)), kHtmlScript));
}

}  // namespace hot::reports
