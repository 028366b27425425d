#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/compare.hpp"
#include "reports/fail_on.hpp"
#include "reports/formats.hpp"

namespace hot::reports {

/// A way to write a comparison and the conditions that were checked, as text that ends in a
/// newline.
struct ComparisonFormat {
  std::string_view name;
  std::string_view description;  ///< one line
  std::string_view option;       ///< the command line's flag, empty for the terminal's
  std::string (*write)(const Comparison& comparison, const std::vector<Check>& checks,
                       const Style& style);
};

/// Every format: a new one is a file of its own and a row here.
[[nodiscard]] const std::vector<ComparisonFormat>& comparison_formats();

/// For people: what it comes down to, changed numbers, changed picks, what else differs.
[[nodiscard]] std::string write_comparison(const Comparison& comparison,
                                           const std::vector<Check>& checks, const Style& style);

/// The same for a pull request.
[[nodiscard]] std::string write_comparison_markdown(const Comparison& comparison,
                                                    const std::vector<Check>& checks,
                                                    const Style& style);

/// Everything, schema hot-analyze.comparison.v1 (reports/schema/comparison.v1.json).
[[nodiscard]] std::string write_comparison_json(const Comparison& comparison,
                                                const std::vector<Check>& checks,
                                                const Style& style);

}  // namespace hot::reports
