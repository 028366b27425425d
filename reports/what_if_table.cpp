#include <fmt/format.h>

#include <cmath>

#include "reports/profile_parts.hpp"
#include "reports/profile_table.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;

std::string of(double bytes) {
  return bytes_text(bytes);
}

std::string line(const LineFit& fit) {
  return fmt::format("{} + {} a sample (largest deviation {})", of(fit.constant), of(fit.slope),
                     percent_text(fit.error));
}

/// "--batch 96 exact, 210 with the plan".
std::string largest(const BatchSweep& sweep) {
  const auto budget = static_cast<double>(sweep.budget_bytes);
  std::string text = sweep.exact ? fmt::format("{} exact", sweep.exact->largest(budget)) : "";
  if (sweep.plan) text += fmt::format(", {} with the plan", sweep.plan->largest(budget));
  return text;
}

std::string batches_text(const BatchSweep& sweep, const Style& style) {
  Table table({{"batch", Table::Align::right},
               {"step (ms)", Table::Align::right},
               {"a sample (ms)", Table::Align::right},
               {"memory, exact", Table::Align::right},
               {sweep.plan ? "with the plan" : "", Table::Align::right},
               {"", Table::Align::left, true, true}});
  for (const BatchPoint& p : sweep.points) {
    const bool ran = p.failure.empty();
    table.row({fmt::format("{}", p.batch), ran ? ms_text(p.step_ms / 1e3) : "-",
               ran ? ms_text(p.step_ms / 1e3 / static_cast<double>(p.batch)) : "-",
               ran ? of(static_cast<double>(p.peak_bytes)) : "-",
               p.plan_peak_bytes > 0 ? of(static_cast<double>(p.plan_peak_bytes)) : "", p.failure});
  }
  std::string text = table.text(style);
  if (sweep.exact) {
    text +=
        paragraph("",
                  fmt::format("Measured above; modelled from it: exact {}{}.", line(*sweep.exact),
                              sweep.plan ? "; with the plan " + line(*sweep.plan) : ""),
                  style.width);
  }
  if (sweep.budget_bytes > 0) {
    text += paragraph(
        "",
        sweep.exact
            ? fmt::format("Largest batch in {:g} GiB (modelled, the line's largest deviation "
                          "kept free): {}.",
                          static_cast<double>(sweep.budget_bytes) / kGibibyte, largest(sweep))
            : "The largest batch can't be said: fewer than two batch sizes ran.",
        style.width);
  }
  return text;
}

std::string target_text(const TargetModel& target, const Style& style) {
  std::string text = fmt::format("On {} (modelled, {}): exact step {} ms", target.rates.name,
                                 target.rates.source, ms_text(target.exact_ms / 1e3));
  if (target.plan_ms > 0) {
    text += fmt::format(", with the plan {} ms, {:.3g} times as fast",
                        ms_text(target.plan_ms / 1e3), target.exact_ms / target.plan_ms);
  }
  text += fmt::format(
      ". Every operation takes the longer of its arithmetic and its bytes at the device's rates; "
      "launches and idle time are left out, so real steps take longer. The same model with this "
      "machine's ceilings is {} {} than its measured step. The step needs {} of {}: it {}.",
      percent_text(std::abs(target.here_error)), target.here_error < 0 ? "shorter" : "longer",
      of(static_cast<double>(target.bytes)), of(target.rates.memory_bytes),
      target.fits ? "fits" : "doesn't fit");
  return paragraph("", text, style.width);
}

}  // namespace

std::string what_if_section(const Report& report, const Style& style) {
  if (!report.profile) return "";
  std::string text;
  if (report.profile->batches) text += batches_text(*report.profile->batches, style);
  if (report.profile->target) text += target_text(*report.profile->target, style);
  return text.empty() ? "" : emphasised("what if", style) + '\n' + text;
}

}  // namespace hot::reports
