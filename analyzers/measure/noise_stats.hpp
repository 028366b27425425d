#pragma once

#include <vector>

#include "analyzers/measure/error_stats.hpp"

namespace hot::measure {

/// Bias and deviation of stochastic rounding over seeds (methods.md, section 4), over calls and
/// minibatches. Both need two seeds at least.
///
/// With S draws ĝ_s = g + e_s: deviation² = Σ_s‖e_s − ē‖²/(S−1), bias² = ‖ē‖² − deviation²/S (the
/// mean's own noise taken off). The intervals cover the drawn roundings and the choice of entries;
/// rows of the gradient are taken as independent, which is conservative where they differ much.
class NoiseStats {
 public:
  /// Collects the draws of one call.
  class Call {
   public:
    /// `several`: more than one draw will come, so that the mean error is needed.
    Call(const Axis& rows, const Axis& cols, bool several);
    void add_draw(const Comparison& block);
    /// Σ over draws of the totals, for checks.
    [[nodiscard]] Triple sum() const { return total(sums_, rows_.weight); }

   private:
    friend class NoiseStats;
    const Axis& rows_;
    const Axis& cols_;
    int draws_ = 0;
    std::vector<double> error_sum_;  ///< Σ_s e_s of each entry; empty for a single draw
    MarginSums sums_;                ///< summed over draws
    std::vector<Triple> totals_;     ///< of each draw
    double largest_ = 0;
  };

  /// Ends a call: the noise to these statistics, a single draw's error (mean over seeds) to
  /// `errors`.
  void add(const Call& call, ErrorStats& errors);
  /// Adds the expected ‖ĝ − E ĝ‖² of one call, from the closed form.
  void add_closed_form(double deviation_squared) { closed_form_ += deviation_squared; }
  void end_batch();

  /// Sets bias and deviation (if there were two draws), measured, and deviation_closed_form,
  /// modelled. `exact_squared` is ‖g‖² over all calls and batches.
  void write(Metrics& metrics, double exact_squared) const;

 private:
  std::vector<Totals> batches_;
  bool open_ = false;
  double closed_form_ = 0;
};

}  // namespace hot::measure
