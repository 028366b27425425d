#include "analyzers/measure/kendall.hpp"

#include <cmath>
#include <cstdint>

namespace hot::measure {
namespace {

int sign(double v) {
  return (v > 0 ? 1 : 0) - (v < 0 ? 1 : 0);
}

}  // namespace

std::optional<double> kendall_tau(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return std::nullopt;
  std::int64_t score = 0;
  std::int64_t pairs_a = 0;
  std::int64_t pairs_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const std::int64_t by_a = sign(a[i] - a[j]);
      const std::int64_t by_b = sign(b[i] - b[j]);
      score += by_a * by_b;
      pairs_a += by_a * by_a;
      pairs_b += by_b * by_b;
    }
  }
  if (pairs_a == 0 || pairs_b == 0) return std::nullopt;
  return static_cast<double>(score) /
         std::sqrt(static_cast<double>(pairs_a) * static_cast<double>(pairs_b));
}

std::optional<double> mean_tau(const std::vector<std::vector<double>>& rankings) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < rankings.size(); ++i) {
    for (std::size_t j = i + 1; j < rankings.size(); ++j) {
      const auto tau = kendall_tau(rankings[i], rankings[j]);
      if (!tau) continue;
      sum += *tau;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

}  // namespace hot::measure
