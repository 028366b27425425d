#pragma once

#include <string>

#include "core/report.hpp"

namespace hot::reports {

/// The whole report as JSON, schema hot-analyze.report.v1 (reports/schema/report.v1.json). Every
/// number of a Metrics stands with its origin; NaN and infinite numbers become null and a sentence
/// in "notes".
[[nodiscard]] std::string write_json(const Report& report);

}  // namespace hot::reports
