#include "reports/formats.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "core/errors.hpp"
#include "reports/csv.hpp"
#include "reports/html.hpp"
#include "reports/json.hpp"
#include "reports/markdown.hpp"
#include "reports/perfetto.hpp"
#include "reports/plan.hpp"
#include "reports/profile_table.hpp"
#include "reports/terminal.hpp"

namespace hot::reports {
namespace {

std::string json(const Report& report, const Style&) {
  return write_json(report);
}

std::string plan(const Report& report, const Style&) {
  if (!report.plan) throw std::logic_error("the report has no plan");
  return write_plan(*report.plan);
}

std::string csv(const Report& report, const Style&) {
  return write_csv(report);
}

std::string html(const Report& report, const Style&) {
  return write_html(report);
}

std::string markdown(const Report& report, const Style&) {
  return write_markdown(report);
}

std::string perfetto(const Report& report, const Style&) {
  if (!report.step) throw std::logic_error("the report has no observed step");
  return write_perfetto(*report.step);
}

std::string memory_snapshot(const Report& report, const Style&) {
  if (report.memory_snapshot.empty()) throw std::logic_error("the report has no memory snapshot");
  return report.memory_snapshot;
}

bool always(const Report&) {
  return true;
}
bool has_plan(const Report& report) {
  return report.plan.has_value();
}
bool has_step(const Report& report) {
  return report.step.has_value();
}
bool has_memory_snapshot(const Report& report) {
  return !report.memory_snapshot.empty();
}
bool has_profile(const Report& report) {
  return report.profile.has_value();
}
bool has_trace(const Report& report) {
  return report.trace.has_value();
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> table = {
      {"json", "the whole report as JSON", "--json", json, always},
      {"plan", "the plan as JSON, to be read back by verify", "--plan", plan, has_plan},
      {"html", "the report as one HTML file", "--html", html, always},
      {"csv", "one row a layer, gradient and scheme as CSV", "--csv", csv, has_trace},
      {"markdown", "a summary in Markdown for a pull request", "--markdown", markdown, always},
      {"terminal", "the report for people", "", write_terminal, always},
      {"trace", "the table of backward products that inspect prints", "", write_trace_table,
       has_trace},
      {"profile", "the tables of time and memory that profile prints", "", write_profile_table,
       has_profile},
      {"perfetto", "a step's trace for Perfetto or Chrome; .gz packs it", "--trace", perfetto,
       has_step},
      {"memory-snapshot", "torch's own snapshot of a GPU's memory, for memory_viz",
       "--memory-snapshot", memory_snapshot, has_memory_snapshot},
  };
  return table;
}

const Format& format(std::string_view name) {
  std::string names;
  for (const Format& candidate : formats()) {
    if (candidate.name == name) return candidate;
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", candidate.name);
  }
  throw UsageError(fmt::format("there is no report format '{}'; the formats are {}", name, names));
}

}  // namespace hot::reports
