#include "analyzers/measure/error_stats.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace hot::measure {

MarginSums compare(const Comparison& block, double& largest) {
  const std::size_t rows = block.rows->index.size();
  const std::size_t cols = block.cols->index.size();
  MarginSums sums{std::vector<Triple>(rows), std::vector<Triple>(cols)};
  const double* col_weight = block.cols->weight.data();
  for (std::size_t i = 0; i < rows; ++i) {
    const float* exact = block.exact + i * cols;
    const float* estimate = block.estimate + i * cols;
    const double row_weight = block.rows->weight[i];
    Triple row{};
    for (std::size_t j = 0; j < cols; ++j) {
      const double g = exact[j];
      const double error = static_cast<double>(estimate[j]) - g;
      const Triple terms = {error * error, g * static_cast<double>(estimate[j]), g * g};
      for (std::size_t t = 0; t < 3; ++t) {
        row[t] += col_weight[j] * terms[t];
        sums.cols[j][t] += row_weight * terms[t];
      }
      largest = std::max(largest, std::abs(error));
    }
    sums.rows[i] = row;
  }
  return sums;
}

Triple total(const MarginSums& sums, const std::vector<double>& row_weights) {
  Triple result{};
  for (std::size_t i = 0; i < sums.rows.size(); ++i) {
    for (std::size_t t = 0; t < 3; ++t) result[t] += row_weights[i] * sums.rows[i][t];
  }
  return result;
}

Totals& ErrorStats::batch() {
  if (!open_) {
    batches_.emplace_back();
    open_ = true;
  }
  return batches_.back();
}

void ErrorStats::add(const Comparison& block) {
  const MarginSums sums = compare(block, largest_);
  batch().add(sums, block.rows->weight, block.cols->weight);
}

void ErrorStats::add(const MarginSums& mean, const std::vector<Triple>& draws, const Axis& rows,
                     const Axis& cols, double largest) {
  Totals call;
  call.add(mean, rows.weight, cols.weight);
  call.add_spread_of_mean(draws);
  batch().merge(call);
  largest_ = std::max(largest_, largest);
}

void ErrorStats::end_batch() {
  open_ = false;
}

double ErrorStats::exact_squared() const {
  double sum = 0;
  for (const Totals& batch : batches_) sum += batch.values()[kExactSquared];
  return sum;
}

std::vector<double> ErrorStats::batch_errors() const {
  std::vector<double> errors;
  for (const Totals& batch : batches_) {
    const Triple& sums = batch.values();
    if (sums[kExactSquared] > 0) errors.push_back(sums[kErrorSquared] / sums[kExactSquared]);
  }
  return errors;
}

bool ErrorStats::zero_gradient() const {
  return exact_squared() == 0;
}

void ErrorStats::write(Metrics& metrics) const {
  if (zero_gradient()) throw std::logic_error("the gradient is exactly zero: no relative error");
  const Totals totals = across_batches(batches_);
  const auto [error2, dot, exact2] = totals.values();

  const double square = error2 / exact2;
  const double relative = std::sqrt(square);
  const double square_half = totals.half_width({1 / exact2, 0, -square / exact2});
  const double relative_half = root_half_width(square, square_half);
  metrics.set("relative_error", relative, Origin::measured, relative_half);

  const double estimate2 = error2 + 2 * dot - exact2;  // ‖ĝ‖²
  double cosine = 0;
  double cosine_half = 0;
  if (estimate2 > 0) {
    const double norms = std::sqrt(exact2 * estimate2);
    cosine = dot / norms;
    const double by_estimate2 = -cosine / (2 * estimate2);
    cosine_half = totals.half_width(
        {by_estimate2, 1 / norms + 2 * by_estimate2, -cosine / (2 * exact2) - by_estimate2});
  }
  metrics.set("cosine", cosine, Origin::measured, cosine_half);
  if (error2 > 0) {
    metrics.set("sqnr_db", -10 * std::log10(square), Origin::measured,
                10 / std::numbers::ln10 * square_half / square);
  }
  metrics.set("max_abs_error", largest_, Origin::measured);
  const double projection = dot / exact2;
  metrics.set("projection", projection, Origin::measured,
              totals.half_width({0, 1 / exact2, -projection / exact2}));
}

}  // namespace hot::measure
