#pragma once

#include "core/gpu.hpp"
#include "reports/json_reader.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {

/// What is known of a GPU, as in the schemas.
[[nodiscard]] Json gpu_json(const GpuFacts& gpu);
[[nodiscard]] GpuFacts read_gpu(const JsonPart& part);

/// The same as lines of name and text, for tables.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gpu_lines(const GpuFacts& gpu);

}  // namespace hot::reports
