#pragma once

#include <string>
#include <vector>

#include "core/metric.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {

/// Turns numbers into JSON, which has no NaN and no infinity: those become null, and a sentence
/// says where.
class JsonNumbers {
 public:
  [[nodiscard]] Json number(double value, const std::string& place);
  /// An object from each metric's name to {value, origin, ci95 if known}. Counts and bytes are
  /// integers.
  [[nodiscard]] Json metrics(const Metrics& metrics, const std::string& place);
  /// One sentence for each place, the first few in full.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  std::vector<std::string> places_;
};

/// An object from the name of every metric to its unit and description.
[[nodiscard]] Json metric_legend();

}  // namespace hot::reports
