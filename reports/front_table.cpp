#include <fmt/format.h>

#include "reports/sections.hpp"
#include "reports/table.hpp"
#include "reports/text.hpp"

namespace hot::reports {

std::string front_section(const Report& report, const Style& style) {
  if (!report.plan || report.plan->front.empty()) return "";
  Table table({{"front"},
               {"error", Table::Align::right},
               {"backward", Table::Align::right},
               {"saved bytes", Table::Align::right}});
  std::string last;
  for (const FrontPoint& p : report.plan->front) {
    const std::string name = p.kind == "mark"   ? p.name
                             : p.kind == last   ? ""
                             : p.kind == "time" ? "least time"
                                                : "least memory";
    last = p.kind;
    table.row({name, value_text(p.error, ""), value_text(p.ms, "ms"),
               value_text(p.saved_bytes, "bytes")});
  }
  return table.text(style) +
         paragraph(
             "",
             "The best plans at falling error of the whole gradient, and where this plan, the "
             "exact one and the methods lie; predicted from measured errors and times "
             "(modelled).",
             style.width);
}

}  // namespace hot::reports
