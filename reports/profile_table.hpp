#pragma once

#include <string>

#include "core/report.hpp"
#include "reports/formats.hpp"

namespace hot::reports {

/// The parts of a profile for people, each empty where the report has nothing for it, else ended by
/// a newline.
[[nodiscard]] std::string time_section(const Report& report, const Style& style);
[[nodiscard]] std::string memory_section(const Report& report, const Style& style);
[[nodiscard]] std::string what_if_section(const Report& report, const Style& style);

/// All of them, and the environment.
[[nodiscard]] std::string write_profile_table(const Report& report, const Style& style);

}  // namespace hot::reports
