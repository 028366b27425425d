#include "reports/terminal.hpp"

#include <algorithm>

#include "reports/profile_table.hpp"
#include "reports/sections.hpp"

namespace hot::reports {

std::string write_terminal(const Report& report, const Style& given) {
  Style style = given;
  style.width = std::max(style.width, kMinWidth);
  std::string text;
  for (const auto section : {verdict_section, metrics_section, plan_section, front_section,
                             errors_section, verification_section, memory_section, device_section,
                             findings_section, environment_section}) {
    const std::string part = section(report, style);
    if (part.empty()) continue;
    if (!text.empty()) text += '\n';
    text += part;
  }
  return text;
}

}  // namespace hot::reports
