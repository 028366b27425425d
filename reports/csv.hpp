#pragma once

#include <string>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// `cells` as one line of RFC 4180 (with a line feed alone at its end): cells that need it are
/// quoted.
[[nodiscard]] std::string csv_line(const std::vector<std::string>& cells);

/// One row for each layer x path x scheme, `exact` first. Where a plan was verified, each layer has
/// one more row of path "backward" and scheme "plan", and so has the whole model, whose layer is
/// empty. A metric that some row has is a column, with columns for its origin and, where known, its
/// 95 % half width; units are those of the report's legend. Throws std::logic_error without a
/// trace.
[[nodiscard]] std::string write_csv(const Report& report);

}  // namespace hot::reports
