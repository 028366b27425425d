#pragma once

#include "core/training.hpp"

namespace hot::train {

/// Training losses at the end are means over this share of the steps.
inline constexpr double kEnd = 0.1;

/// Sets the metrics that the pairs together give: losses at the end, held-out losses, accuracies
/// and step times, each side's mean over seeds, and their differences by pairs (plan minus exact),
/// with 95 % intervals from two seeds on.
void summarize(Training& training);

}  // namespace hot::train
