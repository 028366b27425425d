#pragma once

#include <string>

#include "core/report.hpp"
#include "reports/formats.hpp"

namespace hot::reports {

/// The parts of the report for people, each empty where the report has nothing for it, else ended
/// by a newline.
[[nodiscard]] std::string verdict_section(const Report& report, const Style& style);
[[nodiscard]] std::string metrics_section(const Report& report, const Style& style);
[[nodiscard]] std::string plan_section(const Report& report, const Style& style);
/// With --pareto: the front of error against time and memory, and the marks.
[[nodiscard]] std::string front_section(const Report& report, const Style& style);
/// For runs that end before a plan is made: the lowest error of each number format, per gradient.
[[nodiscard]] std::string errors_section(const Report& report, const Style& style);
/// Layers that did not pass, or one sentence that all did.
[[nodiscard]] std::string verification_section(const Report& report, const Style& style);
/// What the GPU ran in a step, by layer and path; empty for a run on a CPU.
[[nodiscard]] std::string device_section(const Report& report, const Style& style);
/// Everything that was noted, one sentence each; the same note of several layers once.
[[nodiscard]] std::string findings_section(const Report& report, const Style& style);
[[nodiscard]] std::string environment_section(const Report& report, const Style& style);

/// "1576 x 2304 x 768", of the first shape; ", batch 8" and ", 2 more" where that isn't all; "-"
/// where nothing ran.
[[nodiscard]] std::string product_text(const PathWork& work);

}  // namespace hot::reports
