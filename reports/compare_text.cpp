#include "reports/compare_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::array kChanges = {Change::same, Change::better, Change::worse, Change::unclear};

}  // namespace

std::string percent_text(const Difference& d) {
  const double relative = d.relative();
  if (std::isnan(relative)) return "?";
  if (std::isinf(relative)) return relative > 0 ? "from 0" : "to below 0";
  return relative == 0 ? "0 %" : fmt::format("{:+.3g} %", 100 * relative);
}

std::string noise_text(const Difference& d) {
  if (!d.ci95 || d.a.value == 0) return "";
  return fmt::format("+-{:.2g} %", 100 * *d.ci95 / std::abs(d.a.value));
}

std::string difference_text(const Difference& d) {
  const std::string noise = noise_text(d);
  return fmt::format("{} -> {}, {}{}", value_text(d.a.value, d.info().unit),
                     value_text(d.b.value, d.info().unit), percent_text(d),
                     noise.empty() ? "" : fmt::format(" (95 % {})", noise));
}

std::string picks_text(const Comparison& comparison) {
  std::size_t both = 0;
  for (const PickChange& pick : comparison.picks) {
    if (!pick.a.empty() && !pick.b.empty()) ++both;
  }
  std::string text =
      fmt::format("{} of {} gradients have another scheme", both, comparison.gradients);
  const std::size_t alone = comparison.picks.size() - both;
  if (alone > 0) fmt::format_to(std::back_inserter(text), ", {} stand in one plan alone", alone);
  return text;
}

std::string overall(const Comparison& comparison) {
  if (comparison.whole.empty()) return "nothing to compare";
  const bool better = comparison.count(Change::better) > 0;
  const bool worse = comparison.count(Change::worse) > 0;
  if (better || worse) return better && worse ? "mixed" : better ? "better" : "worse";
  return comparison.count(Change::unclear) > 0 ? "no clear change" : "same";
}

std::vector<const LayerDifference*> changed_layers(const Comparison& comparison) {
  std::vector<const LayerDifference*> changed;
  for (const LayerDifference& layer : comparison.layers) {
    const Change change = layer.difference.change;
    if (change == Change::better || change == Change::worse) changed.push_back(&layer);
  }
  std::stable_sort(changed.begin(), changed.end(), [](const auto* x, const auto* y) {
    return std::abs(x->difference.relative()) > std::abs(y->difference.relative());
  });
  return changed;
}

std::string layer_counts(const Comparison& comparison) {
  std::string text;
  for (const Change change : kChanges) {
    const auto n = std::count_if(comparison.layers.begin(), comparison.layers.end(),
                                 [&](const auto& l) { return l.difference.change == change; });
    if (n == 0) continue;
    fmt::format_to(std::back_inserter(text), "{}{} {}", text.empty() ? "" : ", ", n,
                   to_string(change));
  }
  return text;
}

}  // namespace hot::reports
