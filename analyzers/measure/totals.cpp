#include "analyzers/measure/totals.hpp"

#include <algorithm>
#include <cmath>

namespace hot::measure {
namespace {

constexpr double kNormal = 1.959963984540054;

void add_scaled(std::vector<Triple>& to, const std::vector<Triple>& from, double factor) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t t = 0; t < 3; ++t) to[i][t] += factor * from[i][t];
  }
}

/// The units' contributions to the total, certain ones (weight 1) and sampled ones apart.
struct Strata {
  std::vector<Triple> certain;
  std::vector<Triple> sampled;
  double sampled_weight = 1;
};

Strata strata(const std::vector<Triple>& sums, std::span<const double> weights) {
  Strata result;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Triple unit = sums[i];
    for (double& value : unit) value *= weights[i];
    (weights[i] == 1 ? result.certain : result.sampled).push_back(unit);
    if (weights[i] != 1) result.sampled_weight = weights[i];
  }
  return result;
}

/// Variance of a sum of n units estimated from them: n/(n−1)·Σ(y−ȳ)², widened by Student's t.
double sum_factor(std::size_t units) {
  const auto n = static_cast<double>(units);
  const double t = student_t(static_cast<std::int64_t>(units) - 1) / kNormal;
  return n / (n - 1) * t * t;
}

}  // namespace

void MarginSums::add(const MarginSums& other, double factor) {
  add_scaled(rows, other.rows, factor);
  add_scaled(cols, other.cols, factor);
}

void Totals::add_covariance(std::span<const Triple> units, double factor) {
  Triple mean{};
  for (const Triple& unit : units) {
    for (std::size_t t = 0; t < 3; ++t) mean[t] += unit[t] / static_cast<double>(units.size());
  }
  for (const Triple& unit : units) {
    for (std::size_t t = 0; t < 3; ++t) {
      for (std::size_t u = 0; u < 3; ++u) {
        covariance_[3 * t + u] += factor * (unit[t] - mean[t]) * (unit[u] - mean[u]);
      }
    }
  }
}

void Totals::add(const MarginSums& sums, std::span<const double> row_weights,
                 std::span<const double> col_weights, Rows rows) {
  for (std::size_t i = 0; i < sums.rows.size(); ++i) {
    for (std::size_t t = 0; t < 3; ++t) values_[t] += row_weights[i] * sums.rows[i][t];
  }
  const Strata by_row = strata(sums.rows, row_weights);
  if (by_row.sampled.size() > 1) {
    const double missing = rows == Rows::random ? 1 : 1 - 1 / by_row.sampled_weight;
    add_covariance(by_row.sampled, missing * sum_factor(by_row.sampled.size()));
  }
  if (rows == Rows::random && by_row.certain.size() > 1) {
    add_covariance(by_row.certain, sum_factor(by_row.certain.size()));
  }
  const Strata by_col = strata(sums.cols, col_weights);
  if (by_col.sampled.size() > 1) {
    const double missing = 1 - 1 / by_col.sampled_weight;
    add_covariance(by_col.sampled, missing * sum_factor(by_col.sampled.size()));
  }
}

void Totals::add_spread_of_mean(std::span<const Triple> draws) {
  if (draws.size() < 2) return;
  const auto n = static_cast<double>(draws.size());
  add_covariance(draws, sum_factor(draws.size()) / (n * n));
}

void Totals::merge(const Totals& other) {
  for (std::size_t t = 0; t < values_.size(); ++t) values_[t] += other.values_[t];
  for (std::size_t t = 0; t < covariance_.size(); ++t) covariance_[t] += other.covariance_[t];
}

double Totals::half_width(const Triple& slopes) const {
  double variance = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t u = 0; u < 3; ++u) {
      variance += slopes[t] * covariance_[3 * t + u] * slopes[u];
    }
  }
  return kNormal * std::sqrt(std::max(0.0, variance));
}

Totals across_batches(std::span<const Totals> batches) {
  Totals sum;
  std::vector<Triple> units;
  for (const Totals& batch : batches) {
    sum.merge(batch);
    units.push_back(batch.values());
  }
  if (units.size() > 1) {
    sum.covariance_ = {};
    sum.add_covariance(units, sum_factor(units.size()));
  }
  return sum;
}

double student_t(std::int64_t degrees_of_freedom) {
  static constexpr std::array kSmall = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                        2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
  const auto small = static_cast<std::int64_t>(kSmall.size());
  if (degrees_of_freedom <= small) {
    return kSmall[static_cast<std::size_t>(std::max<std::int64_t>(degrees_of_freedom, 1) - 1)];
  }
  // Cornish-Fisher expansion in 1/ν, right to 2e-4 from ν = 11 on.
  const double z = kNormal;
  const auto nu = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  const double z7 = z5 * z * z;
  return z + (z3 + z) / (4 * nu) + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * nu * nu * nu);
}

double root_half_width(double square, double half) {
  const double root = std::sqrt(std::max(0.0, square));
  const double upper = std::sqrt(std::max(0.0, square + half));
  const double lower = std::sqrt(std::max(0.0, square - half));
  return std::max(upper - root, root - lower);
}

}  // namespace hot::measure
