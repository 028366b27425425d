#include "analyzers/measure/outliers.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace hot::measure {

Concentration concentration(const std::vector<double>& energies) {
  if (energies.empty()) return {};
  std::vector<double> sorted = energies;
  const std::size_t top = std::max<std::size_t>(1, sorted.size() / 100);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(top);
  std::nth_element(sorted.begin(), middle - 1, sorted.end(), std::greater<>());
  const double all = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  if (all <= 0) return {};
  const double share = std::accumulate(sorted.begin(), middle, 0.0) / all;
  const double equal = static_cast<double>(top) / static_cast<double>(sorted.size());
  return {share, share / equal};
}

OutlierSide outlier_side(const Concentration& rows, const Concentration& cols) {
  if (rows.ratio >= kOutlierRatio && rows.ratio >= 2 * cols.ratio) return OutlierSide::rows;
  if (cols.ratio >= kOutlierRatio && cols.ratio >= 2 * rows.ratio) return OutlierSide::columns;
  return OutlierSide::none;
}

double kurtosis(const at::Tensor& matrix, const std::vector<double>& row_weight,
                const std::vector<double>& col_weight) {
  const auto rows = static_cast<std::size_t>(matrix.size(0));
  const auto cols = static_cast<std::size_t>(matrix.size(1));
  const float* data = matrix.const_data_ptr<float>();
  double weights = 0;
  double second = 0;
  double fourth = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const float* values = data + i * cols;
    double row[3] = {};
    for (std::size_t j = 0; j < cols; ++j) {
      const double w = col_weight.empty() ? 1 : col_weight[j];
      const double square = static_cast<double>(values[j]) * static_cast<double>(values[j]);
      row[0] += w;
      row[1] += w * square;
      row[2] += w * square * square;
    }
    const double w = row_weight.empty() ? 1 : row_weight[i];
    weights += w * row[0];
    second += w * row[1];
    fourth += w * row[2];
  }
  return second > 0 ? fourth * weights / (second * second) : 0;
}

}  // namespace hot::measure
