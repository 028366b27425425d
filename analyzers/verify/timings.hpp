#pragma once

#include <string>
#include <vector>

#include "analyzers/verify/step_run.hpp"
#include "core/metric.hpp"

namespace hot::verify {

/// Times of the interleaved exact and planned steps. Protocol: one untimed step of each before;
/// then pairs, exact first and plan first in turn, caches as the step before left them; mean and
/// 95 % interval over the pairs.
class Timings {
 public:
  void add(const StepRun& exact, const StepRun& plan);

  [[nodiscard]] int pairs() const { return static_cast<int>(pairs_.size()); }

  /// exact_ms, plan_ms and speedup of one layer's backward; the plan's includes preparing x in
  /// forward.
  void report_layer(const std::string& layer, Metrics& metrics) const;

  /// The same summed over the `changed` layers; eligible_exact_ms and eligible_plan_ms over all
  /// `eligible` ones; step_exact_ms, step_plan_ms, step_speedup of whole steps.
  void report_total(const std::vector<std::string>& changed,
                    const std::vector<std::string>& eligible, Metrics& metrics) const;

  /// True where the 95 % interval of the whole step's speed-up lies on one side of 1.
  [[nodiscard]] bool decided() const;

 private:
  struct Pair {
    std::map<std::string, double> exact, plan;
    double exact_step = 0, plan_step = 0;
  };
  std::vector<Pair> pairs_;
};

}  // namespace hot::verify
