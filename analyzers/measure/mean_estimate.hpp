#pragma once

#include <optional>
#include <vector>

namespace hot::measure {

/// A mean and the half width of its 95 % interval (Student's t), unknown for a single value.
struct MeanEstimate {
  double mean = 0;
  std::optional<double> ci95;
};

/// Of independent values, at least one.
[[nodiscard]] MeanEstimate estimate_mean(const std::vector<double>& values);

}  // namespace hot::measure
