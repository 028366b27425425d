#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hot::reports {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Bytes of the first `count` code points.
std::size_t prefix_bytes(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    ++at;
    while (at < text.size() && continues(text[at])) ++at;
    --count;
  }
  return at;
}

/// Three significant digits with the largest fitting prefix of `unit`, e.g. "1.50 GFLOP".
std::string scaled(double value, std::string_view unit) {
  constexpr std::array<const char*, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int decimals = prefix == 0 || std::abs(value) >= 99.95 ? 0
                       : std::abs(value) >= 9.995              ? 1
                                                               : 2;
  return fmt::format("{:.{}f} {}{}", value, decimals, kPrefixes[prefix], unit);
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string printable(std::string_view text) {
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto c = static_cast<unsigned char>(result[i]);
    // U+0080 to U+009F, which terminals may obey too, are C2 80 to C2 9F in UTF-8.
    const bool c1 =
        c == 0xC2 && i + 1 < result.size() && static_cast<unsigned char>(result[i + 1]) < 0xA0;
    if (c1) result.erase(i, 1);
    if (c1 || c < 0x20 || c == 0x7F) result[i] = '?';
  }
  return result;
}

std::string elided(std::string_view text, std::size_t width) {
  constexpr std::string_view kDots = "...";
  const std::size_t length = columns(text);
  if (length <= width) return std::string(text);
  if (width <= kDots.size()) return std::string(text.substr(0, prefix_bytes(text, width)));
  const std::size_t kept = width - kDots.size();
  const std::size_t head = kept * 2 / 5;
  const std::size_t tail = prefix_bytes(text, length - (kept - head));
  return fmt::format("{}{}{}", text.substr(0, prefix_bytes(text, head)), kDots, text.substr(tail));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  width = std::max<std::size_t>(width, 1);
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    while (!word.empty()) {
      std::string& line = lines.back();
      const std::size_t used = line.empty() ? 0 : columns(line) + 1;
      if (used + columns(word) <= width) {
        line += fmt::format("{}{}", line.empty() ? "" : " ", word);
        break;
      }
      if (!line.empty()) {
        lines.emplace_back();
        continue;
      }
      const std::size_t fits = prefix_bytes(word, width);
      line = word.substr(0, fits);
      word.remove_prefix(fits);
      lines.emplace_back();
    }
  }
  return lines;
}

std::string paragraph(std::string_view lead, std::string_view text, std::size_t width) {
  const std::size_t indent = columns(lead);
  std::string result;
  const std::size_t room = width > indent ? width - indent : 1;
  for (const std::string& line : wrapped(printable(text), room)) {
    result += result.empty() ? std::string(lead) : std::string(indent, ' ');
    result += line;
    while (result.ends_with(' ')) result.pop_back();
    result += '\n';
  }
  return result;
}

std::string bytes_text(double bytes) {
  return scaled(bytes, "B");
}

std::string flops_text(double flops) {
  return scaled(flops, "FLOP");
}

std::string count_text(double count) {
  std::string text = scaled(count, "");
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string value_text(double value, std::string_view unit) {
  if (std::isnan(value)) return "not a number";
  if (std::isinf(value)) return value > 0 ? "infinite" : "-infinite";
  if (unit == "bytes") return bytes_text(value);
  if (unit == "bytes/s") return bytes_text(value) + "/s";
  if (unit == "FLOP/s") return flops_text(value) + "/s";
  if (unit == "count") return fmt::format("{:.0f}", value);
  if (unit == "share") return value_text(100 * value, "%");
  const double size = std::abs(value);
  const std::string number = size != 0 && size < 1e-3      ? fmt::format("{:.2e}", value)
                             : size >= 999.5 && size < 1e9 ? fmt::format("{:.0f}", value)
                                                           : fmt::format("{:.3g}", value);
  if (unit == "ratio") return number + "x";
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string spaced(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace hot::reports
