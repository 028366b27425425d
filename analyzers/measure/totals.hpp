#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace hot::measure {

/// Three sums over the entries of a gradient from which a group of measures follows.
using Triple = std::array<double, 3>;

/// Sums over the compared block by its rows and by its columns, each already weighted along the
/// other axis.
struct MarginSums {
  std::vector<Triple> rows;
  std::vector<Triple> cols;

  /// Adds another block's sums of the same shape, times `factor`.
  void add(const MarginSums& other, double factor = 1);
};

/// Whether rows that were all compared still vary: the gradient itself is fixed, the noise of
/// stochastic rounding isn't (its rows are independent, since each row of gy is rounded by itself).
enum class Rows { fixed, random };

/// Estimated totals over whole gradients, with the covariance of that estimate. Streams and merges:
/// both add over calls.
class Totals {
 public:
  /// Adds one block whose row i stands for row_weights[i] rows of the whole, and column j likewise;
  /// a weight of 1 means compared with certainty, others share one simple random sample without
  /// replacement. Row and column sampling add their variances (an upper bound for a block whose
  /// rows and columns are both sampled). With fewer than two sampled rows or columns nothing is
  /// known about their spread, and they add no variance.
  void add(const MarginSums& sums, std::span<const double> row_weights,
           std::span<const double> col_weights, Rows rows = Rows::fixed);

  /// Adds the uncertainty of a mean over independent `draws` of the same totals (which were added
  /// by add() as their mean). Nothing is added for a single draw.
  void add_spread_of_mean(std::span<const Triple> draws);

  void merge(const Totals& other);

  [[nodiscard]] const Triple& values() const { return values_; }

  /// Half width of the 95 % interval of a function of the totals with these partial derivatives
  /// (delta method). Spreads known from few units were widened by Student's t.
  [[nodiscard]] double half_width(const Triple& slopes) const;

 private:
  friend Totals across_batches(std::span<const Totals> batches);
  void add_covariance(std::span<const Triple> units, double factor);

  Triple values_{};
  std::array<double, 9> covariance_{};
};

/// The sum over minibatches. One batch keeps its own interval, which covers the choice of entries;
/// several give an interval that covers the choice of batches too, from their spread.
[[nodiscard]] Totals across_batches(std::span<const Totals> batches);

/// 97.5 % quantile of Student's t distribution.
[[nodiscard]] double student_t(std::int64_t degrees_of_freedom);

/// Half width of the interval of √square, where `square` is known to ± `half`; an estimate of a
/// square below zero counts as zero. The longer side where the root makes them unequal.
[[nodiscard]] double root_half_width(double square, double half);

}  // namespace hot::measure
