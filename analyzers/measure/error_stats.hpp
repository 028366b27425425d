#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/measure/sample.hpp"
#include "analyzers/measure/totals.hpp"
#include "core/metric.hpp"

namespace hot::measure {

/// A row-major block of a gradient: exact values and an estimate of them, for the rows and columns
/// of two axes.
struct Comparison {
  const float* exact = nullptr;
  const float* estimate = nullptr;
  const Axis* rows = nullptr;
  const Axis* cols = nullptr;
};

/// Positions of the sums that ErrorStats keeps, in a Triple.
enum ErrorSum : std::size_t { kErrorSquared = 0, kDot = 1, kExactSquared = 2 };

/// Sums of (ĝ−g)², gĝ and g² in double by rows and columns, weighted along the other axis.
/// `largest` is raised to the largest |ĝ−g|.
[[nodiscard]] MarginSums compare(const Comparison& block, double& largest);

/// Total of margin sums over the whole block, `row_weights` applied.
[[nodiscard]] Triple total(const MarginSums& sums, const std::vector<double>& row_weights);

/// Error of an estimate against the exact gradient (methods.md, section 4), over calls and
/// minibatches: squares add. Accumulates in double; constant size but for one Totals a batch.
///
/// The 95 % intervals cover the choice of compared entries, the spread between seeds of stochastic
/// rounding where there are several, and with several minibatches the choice of those (then alone,
/// for it contains the others). A gradient compared whole, in one batch, without seeds, has zero
/// width.
class ErrorStats {
 public:
  /// One call, one draw.
  void add(const Comparison& block);
  /// One call whose margin sums are the mean over draws with these totals.
  void add(const MarginSums& mean, const std::vector<Triple>& draws, const Axis& rows,
           const Axis& cols, double largest);
  /// What is added from here on belongs to another minibatch.
  void end_batch();

  /// True while the exact gradient is exactly zero: there is nothing to be relative to.
  [[nodiscard]] bool zero_gradient() const;
  /// ‖g‖², estimated.
  [[nodiscard]] double exact_squared() const;

  /// Squared relative error of each minibatch that had a gradient other than zero.
  [[nodiscard]] std::vector<double> batch_errors() const;

  /// Sets relative_error, cosine, sqnr_db (unless there is no error at all), max_abs_error (of the
  /// compared entries) and projection. An estimate that is zero throughout has cosine 0. Throws
  /// std::logic_error for a zero gradient.
  void write(Metrics& metrics) const;

 private:
  Totals& batch();

  std::vector<Totals> batches_;
  bool open_ = false;
  double largest_ = 0;
};

}  // namespace hot::measure
