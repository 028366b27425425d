#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// How a report for people is laid out; formats for programs take no notice.
struct Style {
  std::size_t width = 100;  ///< columns; at least kMinWidth are used
  bool colour = false;      ///< ANSI colours, for a terminal that shows them
};

inline constexpr std::size_t kMinWidth = 60;

/// A report format: everything in a Report that it knows how to show, as text that ends in a
/// newline ("memory-snapshot" alone is binary).
struct Format {
  std::string_view name;         ///< "json", "plan", "csv", "html" …
  std::string_view description;  ///< one line
  std::string_view option;  ///< the command line's flag that writes it to a file, empty if none
  /// Throws std::logic_error when the part that the format is about is missing (no plan, no trace).
  std::string (*write)(const Report& report, const Style& style);
  bool (*can_write)(const Report& report);  ///< whether the part that it is about is there
};

/// Every format: a new one is a file of its own and a row here.
[[nodiscard]] const std::vector<Format>& formats();

/// The format called `name`. Throws UsageError naming those that there are.
[[nodiscard]] const Format& format(std::string_view name);

}  // namespace hot::reports
