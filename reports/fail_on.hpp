#pragma once

#include <string>
#include <vector>

#include "reports/compare.hpp"

namespace hot::reports {

/// A condition of `compare --fail-on`, one of
///   NAME>N%  NAME<-N%   B's number exceeds A's by more than N % (falls below it by more), and by
///                       more than the noise
///   NAME>N   NAME<N     B's number by itself, with its interval beyond N
///   picks>N             more than N gradients have another scheme
///   worse               some number of the whole model is worse
/// NAME is a metric of the whole model, or error, time, memory: the gradient error, the plan's
/// backward time and its saved bytes, or what was predicted of them where nothing was verified.
struct FailOn {
  std::string text;   ///< as it was written, without spaces
  std::string name;   ///< "picks", "worse", a metric's name or alias
  bool above = true;  ///< > rather than <
  bool percent = false;
  double limit = 0;
};

/// Reads a condition. Throws UsageError saying what is wrong and what would be right.
[[nodiscard]] FailOn parse_fail_on(const std::string& text);

/// Whether a comparison meets a condition, and by which numbers.
struct Check {
  std::string condition;
  bool failed = false;
  std::string reason;  ///< "gradient_error 0.0502 -> 0.0731, +45.6 %: worse"
};

/// Throws UsageError where the comparison lacks the number: a condition that can't be checked must
/// not pass.
[[nodiscard]] Check check(const FailOn& condition, const Comparison& comparison);

}  // namespace hot::reports
