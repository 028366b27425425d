#pragma once

#include <string>

#include "core/report.hpp"

namespace hot::reports {

/// The report as one HTML file that opens from disk and loads nothing: verdict, advice and the
/// findings that matter first; then errors, costs, a table of all gradients, numbers, environment
/// and protocol. What is read is in the text; the script draws charts and the table from the data
/// that stands beside it (html_data.hpp).
[[nodiscard]] std::string write_html(const Report& report);

}  // namespace hot::reports
