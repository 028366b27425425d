#pragma once

#include "core/report.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {

/// Bytes that rows' metrics may take in an HTML report.
inline constexpr std::size_t kHtmlMetricBytes = 1'000'000;

/// What the HTML report's script draws, compact. `schemes`, `metrics` and `origins` are tables that
/// the rest refers to by index; a metric is [metric, value, origin, half width if known].
///   layers[].paths[]     the two gradients: product, calls, flops, pick (index into schemes; -1
///                        exact, null not planned), why
///   errors[path][layer]  the relative error of each of `schemes`, null where it wasn't measured
///   layers[].facts       what is known of the layer whatever scheme it gets: metrics
///   front, memory, roofline, steps  see html_profile_data.hpp; null where there is nothing
///   rows                 {"layer.path.scheme": all metrics}: of picks first, then of runner-ups,
///                        then of the others, as far as kHtmlMetricBytes reach; `rows_left_out`
///                        counts the rest
[[nodiscard]] Json html_data(const Report& report);

}  // namespace hot::reports
