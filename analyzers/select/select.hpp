#pragma once

#include <string>
#include <vector>

#include "core/error_table.hpp"
#include "core/layer_trace.hpp"
#include "core/plan.hpp"

namespace hot::select {

struct Options {
  std::string policy = "auto";          ///< auto | hot | hlq | lqs
  double max_error = 0.1;               ///< relative error of a gradient that `auto` allows
  std::vector<std::string> keep_exact;  ///< glob patterns (* and ?) of layer names that stay exact
};

/// A scheme for both gradients of every eligible layer, and why. Throws UsageError for an unknown
/// policy or a keep_exact pattern that matches no layer.
[[nodiscard]] Plan select(const Trace& trace, const ErrorTable& errors, const Fingerprint& model,
                          const Options& options);

}  // namespace hot::select
