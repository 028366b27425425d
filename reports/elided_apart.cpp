#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kDots = 3;

/// Length of what two texts have in common at their begins.
template <class Range>
std::size_t in_common(const Range& a, const Range& b) {
  return static_cast<std::size_t>(
      std::ranges::distance(a.begin(), std::ranges::mismatch(a, b).in1));
}

/// What several texts begin and end with, in bytes; together no longer than the shortest.
struct Common {
  std::size_t begin = 0;
  std::size_t end = 0;

  explicit Common(const std::set<std::string>& texts) {
    const std::string& first = *texts.begin();
    begin = end = first.size();
    std::size_t shortest = first.size();
    for (const std::string& text : texts) {
      shortest = std::min(shortest, text.size());
      begin = std::min(begin, in_common(first, text));
      end = std::min(end, in_common(std::views::reverse(first), std::views::reverse(text)));
    }
    end = std::min(end, shortest - begin);
  }
};

/// "...layer_11...in_proj": what is its own, and the last of what stands before and behind; empty
/// where there is no room.
std::string own_part(const std::string& text, const Common& common, std::size_t width) {
  const std::size_t own = text.size() - common.begin - common.end;
  if (columns(text) != text.size() || width < own + 2 * kDots) return "";
  const std::size_t kept = width - own - 2 * kDots;
  const std::size_t before = std::min(common.begin, kept * 2 / 5);
  const std::size_t behind = std::min(common.end, kept - before);
  return fmt::format("...{}...{}", text.substr(common.begin - before, before + own),
                     text.substr(text.size() - behind));
}

}  // namespace

std::vector<std::string> elided_apart(const std::vector<std::string>& texts, std::size_t width) {
  std::map<std::string, std::set<std::string>> same;
  std::vector<std::string> result;
  for (const std::string& text : texts) {
    result.push_back(elided(text, width));
    same[result.back()].insert(text);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto& alike = same[result[i]];
    if (alike.size() < 2) continue;
    std::string apart = own_part(texts[i], Common(alike), width);
    if (!apart.empty()) result[i] = std::move(apart);
  }
  return result;
}

}  // namespace hot::reports
