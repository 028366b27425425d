#pragma once

#include <string>
#include <vector>

#include "reports/compare.hpp"

namespace hot::reports {

/// "0.0502 -> 0.0731, +45.6 % (95 % +-3.1 %)".
[[nodiscard]] std::string difference_text(const Difference& d);

/// "+45.6 %"; "0 %" where nothing changed.
[[nodiscard]] std::string percent_text(const Difference& d);

/// The interval of the difference in percent of A's value, e.g. "+-3.1 %"; empty without one.
[[nodiscard]] std::string noise_text(const Difference& d);

/// "3 of 28 gradients have another scheme".
[[nodiscard]] std::string picks_text(const Comparison& comparison);

/// "better", "worse", "mixed", "same", "unclear" or "nothing to compare": the whole model's numbers
/// in a word.
[[nodiscard]] std::string overall(const Comparison& comparison);

/// The layers' numbers that are better or worse, the largest relative difference first.
[[nodiscard]] std::vector<const LayerDifference*> changed_layers(const Comparison& comparison);

/// How many of the layers' numbers there are of each kind: "212 same, 3 worse, 9 unclear".
[[nodiscard]] std::string layer_counts(const Comparison& comparison);

}  // namespace hot::reports
