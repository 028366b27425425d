#include <fmt/format.h>

#include <algorithm>

#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kRows = 25;

std::string shape(const std::array<int, 3>& of) {
  return of[2] > 1   ? fmt::format("{}x{}x{}", of[0], of[1], of[2])
         : of[1] > 1 ? fmt::format("{}x{}", of[0], of[1])
                     : fmt::format("{}", of[0]);
}

std::string step_table(const DeviceStep& step, const std::string& title, const Style& style) {
  Table table({{title, Table::Align::left, true},
               {"path"},
               {"ms", Table::Align::right},
               {"share", Table::Align::right},
               {"times", Table::Align::right},
               {"grid x block", Table::Align::right},
               {"registers", Table::Align::right},
               {"bytes", Table::Align::right},
               {"kernel", Table::Align::left, true, true}});
  const std::size_t shown = std::min(step.work.size(), kRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const DeviceWork& w = step.work[i];
    const bool kernel = w.kind == "kernel";
    table.row({w.layer.empty() ? "-" : w.layer, w.path.empty() ? "-" : w.path,
               fmt::format("{:.3g}", w.ms), fmt::format("{:.1f} %", 100 * w.share),
               fmt::format("{}", w.count),
               kernel ? fmt::format("{} x {}", shape(w.grid), shape(w.block)) : "-",
               kernel ? fmt::format("{}", w.registers) : "-",
               kernel ? "-" : bytes_text(static_cast<double>(w.bytes)), w.name});
  }
  std::string rest = fmt::format("{:.3g} ms of work within {:.3g} ms (measured by CUPTI, one step)",
                                 step.busy_ms, step.span_ms);
  if (shown < step.work.size())
    rest += fmt::format("; {} shorter rows are in --json", step.work.size() - shown);
  if (step.dropped > 0) rest += fmt::format("; {} records were lost", step.dropped);
  table.remark(rest + ".");
  return table.text(style);
}

}  // namespace

std::string device_section(const Report& report, const Style& style) {
  if (!report.device) return "";
  if (!report.device->reason.empty())
    return paragraph(
        "",
        fmt::format("No kernels are listed: {}. Times are by CUDA events.", report.device->reason),
        style.width);
  std::string text = step_table(report.device->exact, "kernels, exact step", style);
  if (!report.device->plan.work.empty())
    text += '\n' + step_table(report.device->plan, "kernels, the plan's step", style);
  return text;
}

}  // namespace hot::reports
