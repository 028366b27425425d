#pragma once

#include <string>

#include "core/report.hpp"

namespace hot::reports {

/// How a verdict should look; formats choose their own colours for it.
enum class Tone { neutral, good, doubtful, bad };

/// What a report comes down to.
struct Verdict {
  std::string word;  ///< upper case, e.g. "PASSED", "PLANNED, NOT VERIFIED"
  Tone tone = Tone::neutral;
  std::string sentence;  ///< numbers with origin and interval; without a full stop, may be empty
};

/// From this relative error of all gradients together on, a plan that passed (its kernels compute
/// what was planned) is doubtful: an angle of about 15 degrees or more between the gradients.
inline constexpr double kDoubtfulGradientError = 0.25;

[[nodiscard]] Verdict verdict_of(const Report& report);

/// "14 of 17 layers are eligible; the plan (policy auto) changes 24 of their 27 gradients."; empty
/// without a trace.
[[nodiscard]] std::string coverage_text(const Report& report);

}  // namespace hot::reports
