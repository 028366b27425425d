#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hot {

/// The stages that `--stop-after` can name, in order.
enum class Stage { trace, measure, select, verify };

[[nodiscard]] const char* to_string(Stage stage);

/// The stage called `name`. Throws UsageError with the list of names.
[[nodiscard]] Stage parse_stage(std::string_view name);

/// All names of stages, in order.
[[nodiscard]] std::vector<std::string> stage_names();

}  // namespace hot
