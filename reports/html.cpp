#include "reports/html.hpp"

#include <fmt/format.h>

#include "reports/advice.hpp"
#include "reports/findings.hpp"
#include "reports/html/assets.hpp"
#include "reports/html_data.hpp"
#include "reports/html_parts.hpp"
#include "reports/html_profile_data.hpp"
#include "reports/html_text.hpp"
#include "reports/html_tiles.hpp"
#include "reports/key_findings.hpp"
#include "reports/text.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

/// "Next: COMMAND does this; …".
std::string next_text(const Report& report) {
  std::string text;
  for (const auto& [command, what] : next_commands(report)) {
    text += fmt::format("{}<code>{}</code> {}", text.empty() ? "Next: " : "; ", html_text(command),
                        html_text(what));
  }
  return text.empty() ? "" : fmt::format("<p class=\"next\">{}.</p>\n", text);
}

std::string first_screen(const Report& report) {
  const Verdict verdict = verdict_of(report);
  std::string findings;
  for (const KeyFinding& finding : key_findings(report)) {
    findings += fmt::format("<li><a href=\"#{}\">{}</a> {}</li>\n", finding.section,
                            html_text(finding.title), html_text(finding.sentence));
  }
  return fmt::format(
      "<header class=\"{}\">\n<p class=\"kicker\">hot-analyze · {}</p>\n<h1>{}</h1>\n"
      "<p class=\"advice\">{}</p>\n{}<p>{}</p>\n{}</header>\n{}",
      html_class(verdict.tone), html_text(html_file_name(report.model.path)),
      html_text(verdict.word), html_text(advice_text(report)), html_tiles(report),
      html_text(coverage_text(report)), next_text(report),
      findings.empty() ? ""
                       : fmt::format("<section id=\"findings\"><h2>What matters</h2>\n"
                                     "<ol class=\"findings\">\n{}</ol></section>\n",
                                     findings));
}

/// One section that the script fills in.
struct Chart {
  const char* id;
  const char* title;
  const char* text;
  bool drawn;
};

/// What the script fills in; without data there is nothing to draw.
std::string charts(const Report& report) {
  if (!report.trace) return "";
  const bool observed = report.profile && report.profile->memory;
  const bool timed = report.profile && report.profile->time;
  const Chart all[] = {
      {"errors", "Errors by layer and scheme",
       "Relative error of one gradient; framed cells hold the plan's picks. Below 0.01 a gradient "
       "is hardly changed, at 1 the error is as large as the gradient.",
       report.errors.has_value()},
      {"front", "What error buys",
       "The lines are the best that any plan reaches at each error of the whole gradient; the "
       "marks are this plan, the exact backward pass and whole methods. All is predicted from "
       "measured errors, times and bytes (<span class=\"origin modelled\">modelled</span>); to the "
       "left and down is better.",
       report.plan && !report.plan->front.empty()},
      {"steps", "Where a step's time goes", "", timed},
      {"costs", "Time and memory, before and after", "", report.verification.has_value()},
      {"memory", "Memory through one step", "", observed},
      {"roofline", "What this machine allows", "", !html_roofline(report).is_null()},
      {"layers", "Every gradient", "", true},
  };
  std::string text;
  for (const Chart& chart : all) {
    if (!chart.drawn) continue;
    const std::string intro = *chart.text == 0 ? "" : fmt::format("<p>{}</p>\n", chart.text);
    text += fmt::format(
        "<section id=\"{0}\"><h2>{1}</h2>\n{2}<div data-draw=\"{0}\"></div></section>\n", chart.id,
        chart.title, intro);
  }
  return text;
}

std::string numbers(const Report& report) {
  std::string rows;
  if (report.verification) rows += html_metric_rows(report.verification->total);
  if (report.plan) rows += html_metric_rows(report.plan->predicted);
  if (report.profile && report.profile->time)
    rows += html_metric_rows(report.profile->time->metrics);
  return html_numbers("The whole model in numbers", rows + html_metric_rows(report.run));
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
                               first_screen(report), charts(report), numbers(report), notes(report),
                               html_environment(report)),
                   fmt::format("<div id=\"tip\" role=\"status\" hidden></div>\n"
                               "<script type=\"application/json\" id=\"data\">{}</script>\n"
                               "<script>\n{}</script>\n",
                               html_json(html_data(report)), kHtmlScript));
}

}  // namespace hot::reports
