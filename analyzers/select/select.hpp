#pragma once

#include <string>
#include <vector>

#include "analyzers/select/budget.hpp"
#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"

namespace hot::select {

struct Options {
  std::string policy = "auto";  ///< a name of policies()
  /// Largest relative error: of the whole gradient (all parameters together) under `auto`, of each
  /// gradient by itself under the others.
  Budget max_error{0.1, false, "0.1"};
  Budget time_budget;                   ///< backward time of all eligible layers; 0: none
  Budget memory_budget;                 ///< bytes kept for backward by the whole model; 0: none
  std::string minimize = "auto";        ///< time | error | memory; auto: error under a time budget
  bool pareto = false;                  ///< find the whole front too
  bool simulated = false;               ///< simulated schemes may be picked: they were asked for
  double gap = 1e-6;                    ///< relative distance from the optimum that may be left
  std::vector<std::string> keep_exact;  ///< glob patterns (* and ?) of layer names that stay exact
};

struct Correction;

/// A scheme for both gradients of every eligible layer, and why. `correction`: what verifying an
/// earlier plan taught; `auto` alone heeds it. Throws UsageError for an unknown policy, a
/// keep_exact pattern that matches no layer, or limits that no plan keeps.
[[nodiscard]] Plan select(const Trace& trace, const ErrorTable& errors, const Fingerprint& model,
                          const Options& options, const Correction* correction = nullptr);

}  // namespace hot::select
