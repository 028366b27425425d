#pragma once

#include <string>

#include "core/report.hpp"
#include "reports/formats.hpp"

namespace hot::reports {

/// The report for people: verdict, plan layer by layer, findings, environment. No line is longer
/// than style.width.
[[nodiscard]] std::string write_terminal(const Report& report, const Style& style);

/// What `inspect` prints: inputs, and every layer's products with their sizes. Throws
/// std::logic_error without a trace.
[[nodiscard]] std::string write_trace_table(const Report& report, const Style& style);

}  // namespace hot::reports
