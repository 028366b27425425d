#pragma once

#include <string>
#include <string_view>

#include "core/report.hpp"

namespace hot::reports {

/// The measured error of a planned gradient: "-" exact, "?" not measured; "~" before one that isn't
/// measured natively.
[[nodiscard]] std::string error_text(const Report& report, const std::string& layer, Path path,
                                     const Scheme& scheme);

/// What error_text() means.
inline constexpr std::string_view kErrorLegend =
    "error: relative error of one gradient, measured; - exact, ? not measured, ~ simulated.";

/// "cheapest under relative error 0.1; next had8+int8/tensor/nearest, cost +10 %".
[[nodiscard]] std::string why_text(const Why& why);

/// The layer called `name` in the report's trace, or nullptr.
[[nodiscard]] const LayerTrace* traced(const Report& report, const std::string& name);

}  // namespace hot::reports
