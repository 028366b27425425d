#pragma once

#include <string>
#include <vector>

#include "core/profile.hpp"

namespace hot::reports {

/// A layer's place under the roofline: all of its products together.
struct Roofline {
  double flops_per_second = 0;
  double bytes_per_second = 0;
  double intensity = 0;  ///< FLOP per byte of operands and results
  double ceiling = 0;    ///< FLOP/s that its intensity allows on this machine
  bool memory_bound = false;

  [[nodiscard]] double share() const { return ceiling > 0 ? flops_per_second / ceiling : 0; }
};

/// `metrics` holds the ceilings.
[[nodiscard]] Roofline roofline(const LayerTimes& layer, const Metrics& metrics);

/// Layers by time, longest first.
[[nodiscard]] std::vector<const LayerTimes*> longest_layers(const TimeProfile& time);

/// Seconds as milliseconds, three digits.
[[nodiscard]] std::string ms_text(double seconds);

/// "12.3 %".
[[nodiscard]] std::string percent_text(double share);

}  // namespace hot::reports
