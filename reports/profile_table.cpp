#include "reports/profile_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "reports/sections.hpp"
#include "reports/terminal.hpp"

namespace hot::reports {

std::string write_profile_table(const Report& report, const Style& given) {
  if (!report.profile) throw std::logic_error("the report has no profile");
  Style style = given;
  style.width = std::max(style.width, kMinWidth);
  std::string text;
  for (const auto section : {time_section, memory_section, what_if_section, device_section,
                             findings_section, environment_section}) {
    const std::string part = section(report, style);
    if (part.empty()) continue;
    if (!text.empty()) text += '\n';
    text += part;
  }
  return text;
}

}  // namespace hot::reports
