#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/metric.hpp"

namespace hot::reports {

/// Columns that `text` (UTF-8) takes, one a code point.
[[nodiscard]] std::size_t columns(std::string_view text);

/// `text` without line breaks and control characters (each becomes '?'), so that no name can
/// disturb a terminal.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` in at most `width` columns, its middle replaced by "..." where it is longer; the end
/// tells layers apart, so it keeps the larger half.
[[nodiscard]] std::string elided(std::string_view text, std::size_t width);

/// The same of each text of a column, so that different ones stay different: where the middle told
/// them apart it is kept, and what they have in common is replaced, "...layer_11...in_proj".
[[nodiscard]] std::vector<std::string> elided_apart(const std::vector<std::string>& texts,
                                                    std::size_t width);

/// `text` broken at spaces into lines of at most `width` columns; words that are longer are broken
/// anywhere.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// `text` wrapped into `width` columns, its first line after `lead`, the others indented by as
/// much. Ends in a newline.
[[nodiscard]] std::string paragraph(std::string_view lead, std::string_view text,
                                    std::size_t width);

/// "30.2 MB", in powers of ten.
[[nodiscard]] std::string bytes_text(double bytes);

/// "12.3 GFLOP", in powers of ten.
[[nodiscard]] std::string flops_text(double flops);

/// "86.6 M", in powers of ten.
[[nodiscard]] std::string count_text(double count);

/// A number with its unit, e.g. "12.3 ms", "0.0412", "1.3x", "25 %", "30.2 MB", "not a
/// number".
[[nodiscard]] std::string value_text(double value, std::string_view unit);

/// "saved bytes exact" of "saved_bytes_exact".
[[nodiscard]] std::string spaced(std::string_view name);

/// "1024x768"; empty for no sizes.
[[nodiscard]] std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace hot::reports
