#pragma once

#include <vector>

#include "core/report.hpp"
#include "reports/formats.hpp"

namespace hot::reports {

/// How `train` writes what it found; each needs report.training. A new one is a file of its own and
/// a row here. Names, options and meaning as of formats().
[[nodiscard]] const std::vector<Format>& training_formats();

/// For people: what it comes down to, all numbers, the curves at some steps, notes, environment.
[[nodiscard]] std::string write_training(const Report& report, const Style& style);

/// Everything, schema hot-analyze.training.v1 (reports/schema/training.v1.json).
[[nodiscard]] std::string write_training_json(const Report& report, const Style& style);

/// One row a seed and step.
[[nodiscard]] std::string write_training_csv(const Report& report, const Style& style);

/// One page that opens from disk and loads nothing; drawn without a script.
[[nodiscard]] std::string write_training_html(const Report& report, const Style& style);

}  // namespace hot::reports
