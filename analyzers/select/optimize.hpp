#pragma once

#include <string>
#include <vector>

#include "analyzers/select/candidates.hpp"

namespace hot::select {

/// The limits in numbers, and what they come from.
struct Bounds {
  Totals limits;
  double max_error = 0;  ///< relative error of the whole gradient; infinite without a limit
  std::string error_text, time_text, memory_text;  ///< as phrases; empty without a limit
  std::string memory_word = "--memory-budget";     ///< what reasons call the limit of bytes
};

/// Turns budgets into numbers. Throws UsageError for sigma where no noise was measured.
[[nodiscard]] Bounds bounds_of(const WholePlan& whole, const ErrorTable& errors,
                               const Options& options);

/// What is made least: time, error or memory counts; the other two break ties (methods: time, with
/// all of the bytes worth 5 % of the time).
[[nodiscard]] Totals weights_of(const WholePlan& whole, const std::string& objective);

/// The objective that applies: options.minimize, or error where a time budget stands alone.
[[nodiscard]] std::string objective_of(const Options& options);

/// The best plan within the limits. Throws UsageError where there is none, naming the limit that
/// binds and the least that would do.
[[nodiscard]] Solution best_plan(const WholePlan& whole, const Bounds& bounds,
                                 const Options& options);

}  // namespace hot::select
