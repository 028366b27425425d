#pragma once

#include <string>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// What the errors, times and shapes say about a kind of scheme on this model and device, as a
/// sentence, with the layers that it concerns ("layer4.0.conv1 (weight)").
struct SchemeFinding {
  std::string sentence;  ///< with numbers and origin; without the layers and without a full stop
  std::vector<std::string> layers;

  /// "sentence (3 gradients: a, b, c and 2 more)."
  [[nodiscard]] std::string text() const;
};

/// Low rank that does nothing, transforms that hurt and why, INT4 that buys no time, padding that
/// wastes work; in this order, each once at most.
[[nodiscard]] std::vector<SchemeFinding> scheme_findings(const Report& report);

}  // namespace hot::reports
