#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/metric.hpp"

namespace hot {

/// passed: right, and it buys time or memory. incorrect: the gradients or the kernel counts are
/// wrong. slower: right, but measured slower than exact and saving less than 1 %. unsupported: the
/// plan's backward can't be put in place. over_limit: right, but the whole misses a limit that it
/// was made for (--max-error, a budget) after all repairs. simulated: right, in numbers that no
/// device here multiplies, so nothing is said of time and bytes. not_run: exact by plan, or the
/// stage was left out.
enum class Outcome { passed, incorrect, slower, unsupported, over_limit, simulated, not_run };

[[nodiscard]] const char* to_string(Outcome outcome);

struct LayerVerification {
  std::string name;
  Outcome outcome = Outcome::not_run;
  std::string reason;             ///< one phrase; empty when passed
  std::int64_t kernel_calls = 0;  ///< backward products that really went through the plan's kernels
  std::int64_t expected_calls = 0;  ///< what the trace says they should be
  Metrics metrics;                  ///< exact_ms, plan_ms, speedup, saved bytes, gradient_error …
};

struct Verification {
  Outcome outcome = Outcome::not_run;
  std::string reason;
  std::vector<LayerVerification> layers;
  Metrics total;
  std::vector<std::string> notes;
};

}  // namespace hot
