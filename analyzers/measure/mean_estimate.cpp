#include "analyzers/measure/mean_estimate.hpp"

#include <cmath>
#include <cstdint>

#include "analyzers/measure/totals.hpp"

namespace hot::measure {

MeanEstimate estimate_mean(const std::vector<double>& values) {
  MeanEstimate result;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) result.mean += v / n;
  if (values.size() < 2) return result;
  double variance = 0;
  for (const double v : values) variance += (v - result.mean) * (v - result.mean) / (n - 1);
  result.ci95 = student_t(static_cast<std::int64_t>(values.size()) - 1) * std::sqrt(variance / n);
  return result;
}

}  // namespace hot::measure
