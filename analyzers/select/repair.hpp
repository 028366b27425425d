#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/select/candidates.hpp"
#include "core/plan.hpp"
#include "core/verification.hpp"

namespace hot::select {

/// Speed, relative to exact, below which a single pair of steps is trusted: above it may be noise.
inline constexpr double kClearlySlower = 0.95;

/// Mends a plan of the policy auto after it was run: where the whole gradient, the time or the
/// saved bytes missed their limit, the prediction is corrected by what was measured; where a layer
/// ran clearly slower than exact without fewer bytes, so are its times; then the plan is solved
/// again.
class Repair {
 public:
  Repair(const Trace& trace, const ErrorTable& errors, Options options)
      : trace_(trace), errors_(errors), options_(std::move(options)) {}

  /// Which limit a verification's totals miss, as a phrase; empty where they keep all. A time
  /// budget is missed where the whole interval lies over it.
  [[nodiscard]] std::string missed(const Metrics& total) const;

  /// The mended plan, or nullopt where nothing is to be mended or nothing better can be had.
  /// `notes` gets a sentence for each thing that was mended, or couldn't be.
  [[nodiscard]] std::optional<Plan> operator()(const Plan& plan,
                                               const std::vector<LayerVerification>& layers,
                                               const Metrics& total,
                                               std::vector<std::string>& notes);

 private:
  /// Each layer's own weight gradient is measured with each of its schemes, so what the prediction
  /// missed is what grad_input's errors add up to on their way down.
  void correct_parts(const Plan& plan, double measured, double predicted);
  bool correct_error(const Plan& plan, const Metrics& total, std::vector<std::string>& notes);
  bool correct_bytes(const Plan& plan, const Metrics& total, std::vector<std::string>& notes);
  bool correct_time(const Plan& plan, const Metrics& total, std::vector<std::string>& notes);
  bool correct_layers(const Plan& plan, const std::vector<LayerVerification>& layers,
                      std::vector<std::string>& notes);

  const Trace& trace_;
  const ErrorTable& errors_;
  Options options_;
  /// What the next plan is solved by: limits that were missed, tightened.
  [[nodiscard]] Options tightened() const;

  Correction correction_;
  int misses_ = 0;       ///< of the error
  int time_misses_ = 0;  ///< of the time budget
};

}  // namespace hot::select
