#pragma once

#include <string>
#include <string_view>

#include "core/report.hpp"

namespace hot::reports {

inline constexpr std::string_view kReportSchema = "hot-analyze.report.v1";

/// Reads what write_json() wrote. Numbers that were not finite come back as not known: metrics are
/// left out, others are NaN. Metrics of another version are left out, with a note of the model.
/// Throws UsageError naming `where` and the JSON path of the part that is wrong.
[[nodiscard]] Report read_report(std::string_view text, const std::string& where);

/// Reads a report or a plan; a plan becomes a report that holds nothing else.
[[nodiscard]] Report read_report_or_plan(std::string_view text, const std::string& where);

}  // namespace hot::reports
