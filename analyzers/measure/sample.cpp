#include "analyzers/measure/sample.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace hot::measure {
namespace {

constexpr double kColumnsPerRow = 2;

std::vector<std::int64_t> live_indices(std::span<const double> energy) {
  std::vector<std::int64_t> live;
  for (std::size_t i = 0; i < energy.size(); ++i) {
    if (energy[i] > 0) live.push_back(static_cast<std::int64_t>(i));
  }
  return live;
}

/// How many of `by_energy` (falling) carry more than an equal share of what is left.
std::size_t certain_count(std::span<const double> energy,
                          const std::vector<std::int64_t>& by_energy, std::int64_t count) {
  double left = 0;
  for (const auto i : by_energy) left += energy[static_cast<std::size_t>(i)];
  std::size_t certain = 0;
  while (static_cast<std::int64_t>(certain) < count / 2) {
    const double next = energy[static_cast<std::size_t>(by_energy[certain])];
    if (next * static_cast<double>(count - static_cast<std::int64_t>(certain)) < left) break;
    left -= next;
    ++certain;
  }
  return certain;
}

}  // namespace

SampleSize sample_size(std::int64_t rows, std::int64_t cols, std::int64_t live_rows,
                       std::int64_t live_cols, double work, std::int64_t min_entries) {
  const auto allowed = static_cast<std::int64_t>(
      std::ceil(work * static_cast<double>(rows) * static_cast<double>(cols)));
  const std::int64_t live = live_rows * live_cols;
  if (live <= std::max(allowed, min_entries)) return {live_rows, live_cols};
  const auto entries = static_cast<double>(std::max(allowed, min_entries / 4));
  auto height = static_cast<std::int64_t>(std::sqrt(entries / kColumnsPerRow));
  height = std::clamp<std::int64_t>(height, 1, live_rows);
  auto width = static_cast<std::int64_t>(entries / static_cast<double>(height));
  if (width > live_cols) {
    width = live_cols;
    height = static_cast<std::int64_t>(entries / static_cast<double>(width));
  }
  return {std::clamp<std::int64_t>(height, 1, live_rows),
          std::clamp<std::int64_t>(width, 1, live_cols)};
}

Axis choose_axis(std::span<const double> energy, std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> live = live_indices(energy);
  const auto population = static_cast<std::int64_t>(live.size());
  if (count >= population) {
    std::vector<double> ones(live.size(), 1.0);
    return {std::move(live), std::move(ones)};
  }
  std::stable_sort(live.begin(), live.end(), [&](auto a, auto b) {
    return energy[static_cast<std::size_t>(a)] > energy[static_cast<std::size_t>(b)];
  });
  const std::size_t certain = certain_count(energy, live, count);
  const auto rest = static_cast<std::int64_t>(certain);
  const double weight = static_cast<double>(population - rest) / static_cast<double>(count - rest);

  std::map<std::int64_t, double> chosen;
  for (std::size_t i = 0; i < certain; ++i) chosen.emplace(live[i], 1.0);
  std::vector<std::int64_t> drawn;
  std::mt19937_64 generator(seed);
  std::sample(live.begin() + rest, live.end(), std::back_inserter(drawn), count - rest, generator);
  for (const auto i : drawn) chosen.emplace(i, weight);

  Axis axis;
  for (const auto& [index, w] : chosen) {
    axis.index.push_back(index);
    axis.weight.push_back(w);
  }
  return axis;
}

}  // namespace hot::measure
