#pragma once

#include <string>

#include "core/report.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {

// Parts that the HTML pages share. Texts are escaped here, except where markup is asked for.

/// The style's class for a verdict.
[[nodiscard]] const char* html_class(Tone tone);

/// The last part of a path.
[[nodiscard]] std::string html_file_name(const std::string& path);

/// One of the large numbers of a first screen: `title` is markup.
[[nodiscard]] std::string html_tile(const std::string& title, const std::string& value,
                                    const std::string& more, const Metric& metric);

/// A row of html_numbers() for each metric, in the order of metric_infos().
[[nodiscard]] std::string html_metric_rows(const Metrics& metrics);

/// The section of such rows; empty without any.
[[nodiscard]] std::string html_numbers(const std::string& title, const std::string& rows);

/// What was run on what, and what the numbers' origins mean.
[[nodiscard]] std::string html_environment(const Report& report);

/// The whole file from its markup: `body` inside main, `end` (scripts) after it.
[[nodiscard]] std::string html_page(const std::string& title, const std::string& body,
                                    const std::string& end);

}  // namespace hot::reports
