#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/formats.hpp"

namespace hot::reports {

/// A table in plain text. Columns are as wide as their longest cell; where that exceeds the style's
/// width, the elastic columns are narrowed and their cells elided in the middle, or in the last
/// column wrapped. No line is ever longer than the style's width.
class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;  ///< may have several lines
    Align align = Align::left;
    bool elastic = false;
    bool wraps = false;  ///< of the last column: what doesn't fit goes on in further lines
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell a column; missing cells are empty.
  void row(std::vector<std::string> cells);
  /// A line under the last row, across all columns, wrapped and indented.
  void remark(const std::string& text);
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::string text(const Style& style) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    bool is_remark = false;
  };
  [[nodiscard]] std::vector<std::size_t> widths(std::size_t total) const;
  /// The lines with their elastic cells in the columns' widths, different ones still different.
  [[nodiscard]] std::vector<Line> shortened(const std::vector<std::size_t>& width) const;
  [[nodiscard]] std::string head(const std::vector<std::size_t>& width, const Style& style) const;

  std::vector<Column> columns_;
  std::vector<Line> lines_;
};

/// `text` in bold, or in an ANSI colour (31 red, 32 green, 33 yellow), where the style shows
/// colours.
[[nodiscard]] std::string emphasised(const std::string& text, const Style& style, int colour = 0);

}  // namespace hot::reports
