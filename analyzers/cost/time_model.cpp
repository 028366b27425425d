#include "analyzers/cost/time_model.hpp"

#include <algorithm>
#include <cmath>

namespace hot::cost {
namespace {

constexpr int kTurns = 8;
/// A side that few times are known of is drawn towards the mean, as by this many times at it.
constexpr double kPrior = 0.1;

double at_or_zero(const std::map<std::string, double>& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

}  // namespace

void TimeModel::add(const std::string& gradient, const std::string& scheme, double ratio) {
  points_.push_back({gradient, scheme, std::log(ratio)});
}

void TimeModel::fit() {
  mean_ = 0;
  by_gradient_.clear();
  by_scheme_.clear();
  if (points_.empty()) return;
  for (const Point& p : points_) mean_ += p.log_ratio / static_cast<double>(points_.size());
  const auto update = [this](std::string Point::*side, std::map<std::string, double>& own,
                             std::string Point::*other_side,
                             const std::map<std::string, double>& other) {
    std::map<std::string, std::pair<double, double>> sums;
    for (const Point& p : points_) {
      auto& [sum, count] = sums[p.*side];
      sum += p.log_ratio - mean_ - at_or_zero(other, p.*other_side);
      ++count;
    }
    for (const auto& [key, s] : sums) own[key] = s.first / (s.second + kPrior);
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    update(&Point::gradient, by_gradient_, &Point::scheme, by_scheme_);
    update(&Point::scheme, by_scheme_, &Point::gradient, by_gradient_);
  }
}

double TimeModel::factor(const std::string& gradient, const std::string& scheme) const {
  return std::exp(mean_ + at_or_zero(by_gradient_, gradient) + at_or_zero(by_scheme_, scheme));
}

std::optional<double> TimeModel::error() const {
  if (points_.size() < 4) return std::nullopt;
  std::map<std::string, int> gradients, schemes;
  for (const Point& p : points_) {
    ++gradients[p.gradient];
    ++schemes[p.scheme];
  }
  std::vector<double> deviations;
  for (const Point& p : points_) {
    // Leaving one of n out moves its own means by 1/(n − 1) of the residual each, about.
    const double residual = p.log_ratio - std::log(factor(p.gradient, p.scheme));
    const double n = gradients[p.gradient];
    const double m = schemes[p.scheme];
    const double pull = 1 / (n + kPrior) + 1 / (m + kPrior);
    deviations.push_back(std::abs(std::expm1(residual / std::max(0.25, 1 - pull))));
  }
  const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
  std::nth_element(deviations.begin(), middle, deviations.end());
  return *middle;
}

}  // namespace hot::cost
