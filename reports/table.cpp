#include "reports/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 8;
constexpr std::size_t kRemarkIndent = 4;

std::string padded(const std::string& text, std::size_t width, Table::Align align) {
  const std::string cell = elided(text, width);
  const std::string spaces(width - columns(cell), ' ');
  return align == Table::Align::right ? spaces + cell : cell + spaces;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void end_line(std::string& text) {
  while (text.ends_with(' ')) text.pop_back();
  text += '\n';
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = printable(cell);
  lines_.push_back({std::move(cells), false});
}

void Table::remark(const std::string& text) {
  lines_.push_back({{text}, true});
}

std::vector<std::size_t> Table::widths(std::size_t total) const {
  std::vector<std::size_t> result;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = 0;
    for (const std::string& line : lines_of(columns_[c].title)) {
      width = std::max(width, columns(line));
    }
    for (const Line& line : lines_) {
      if (!line.is_remark) width = std::max(width, columns(line.cells[c]));
    }
    result.push_back(width);
  }
  const auto used = [&] {
    return std::accumulate(result.begin(), result.end(), kGap * (result.size() - 1));
  };
  // The widest elastic column gives way, column by column; where that isn't enough, every column
  // does.
  for (const bool elastic_only : {true, false}) {
    while (used() > total) {
      std::size_t widest = columns_.size();
      for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (elastic_only && !columns_[c].elastic) continue;
        if (result[c] > kNarrowest && (widest == columns_.size() || result[c] > result[widest])) {
          widest = c;
        }
      }
      if (widest == columns_.size()) break;
      --result[widest];
    }
  }
  return result;
}

std::string Table::head(const std::vector<std::size_t>& width, const Style& style) const {
  std::size_t height = 0;
  std::vector<std::vector<std::string>> titles;
  for (const Column& column : columns_) {
    titles.push_back(lines_of(column.title));
    height = std::max(height, titles.back().size());
  }
  std::string text;
  for (std::size_t row = 0; row < height; ++row) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t above = height - titles[c].size();  // titles stand at the bottom
      line += padded(row < above ? "" : titles[c][row - above], width[c], columns_[c].align) +
              std::string(kGap, ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    text += emphasised(line, style) + '\n';
  }
  return text;
}

std::vector<Table::Line> Table::shortened(const std::vector<std::size_t>& width) const {
  std::vector<Line> lines = lines_;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].elastic || columns_[c].wraps) continue;
    std::vector<std::string> cells;
    for (const Line& line : lines) cells.push_back(line.is_remark ? "" : line.cells[c]);
    cells = elided_apart(cells, width[c]);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].is_remark) lines[i].cells[c] = cells[i];
    }
  }
  return lines;
}

std::string Table::text(const Style& style) const {
  const std::size_t total = std::max(style.width, kMinWidth);
  const std::vector<std::size_t> width = widths(total);
  std::string text = head(width, style);
  for (const Line& line : shortened(width)) {
    if (line.is_remark) {
      text += paragraph(std::string(kRemarkIndent, ' '), line.cells[0], total);
      continue;
    }
    std::vector<std::string> last = {line.cells.back()};
    if (columns_.back().wraps) last = wrapped(line.cells.back(), width.back());
    for (std::size_t c = 0; c + 1 < columns_.size(); ++c) {
      text += padded(line.cells[c], width[c], columns_[c].align) + std::string(kGap, ' ');
    }
    const std::size_t indent =
        std::accumulate(width.begin(), width.end() - 1, kGap * (width.size() - 1));
    for (std::size_t i = 0; i < last.size(); ++i) {
      if (i > 0) {
        end_line(text);
        text.append(indent, ' ');
      }
      text += padded(last[i], width.back(), columns_.back().align);
    }
    end_line(text);
  }
  return text;
}

std::string emphasised(const std::string& text, const Style& style, int colour) {
  if (!style.colour || text.empty()) return text;
  return colour == 0 ? fmt::format("\x1b[1m{}\x1b[0m", text)
                     : fmt::format("\x1b[1;{}m{}\x1b[0m", colour, text);
}

}  // namespace hot::reports
