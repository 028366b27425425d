#include "analyzers/select/policies.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace hot::select {

const std::vector<Policy>& policies() {
  static const std::vector<Policy> table = {
      {"auto", "the best plan of all under --max-error of the whole gradient and the budgets",
       nullptr},
      {"layerwise", "the cheapest scheme of each gradient whose own error is under --max-error",
       choose_layerwise},
      {"hot", "HOT: had16+int4 with LQS for grad_input, low16r8+int8 for grad_weight", choose_hot,
       true},
      {"hlq", "HLQ: had16+int4/tensor for grad_input, low16r8+int8 for grad_weight", choose_hlq,
       true},
      {"lbp-wht", "LBP-WHT: rows projected in 8x8 Walsh patches, where they are an image; float",
       choose_lbp_wht, true},
      {"luq", "LUQ: gy in luq4, stochastic, W and x in int4; simulated", choose_luq, true},
      {"int4", "int4 with one scale, gy rounded stochastically, for both", choose_int4, true},
      {"int8", "int8 with one scale, gy rounded stochastically, for both", choose_int8, true},
      {"nvfp4", "nvfp4, gy rounded stochastically, behind rht16 for grad_weight; simulated",
       choose_nvfp4, true},
      {"adahop",
       "AdaHOP: had16+int4, with oe16 where outliers lie in some indices of the contraction",
       choose_adahop, true},
      {"lqs", "HOT's schemes where they stay under --max-error, else exact", choose_lqs},
  };
  return table;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const Policy& policy : policies()) names.emplace_back(policy.name);
  return names;
}

namespace {

/// Measuring leaves out a gradient that is zero throughout, since no error can be relative to it;
/// trace says so.
bool has_zero_gradient(const LayerTrace& layer) {
  return std::any_of(layer.notes.begin(), layer.notes.end(), [](const std::string& note) {
    return note.find("zero") != std::string::npos;
  });
}

}  // namespace

std::string why_only_exact(const LayerTrace& layer, Path path,
                           const std::vector<const ErrorRow*>& rows, const Options& options) {
  if (layer.path(path).flops == 0) return "not computed";
  for (const std::string& pattern : options.keep_exact) {
    if (fnmatch(pattern.c_str(), layer.name.c_str(), 0) == 0) {
      return fmt::format("kept exact: {}", pattern);
    }
  }
  const bool measured = std::any_of(rows.begin(), rows.end(),
                                    [](const auto* r) { return std::isfinite(largest_error(*r)); });
  if (measured) return "";
  return has_zero_gradient(layer) ? "its gradient is zero" : "no error was measured";
}

double largest_error(const ErrorRow& row) {
  const Metric* error = row.metrics.find("relative_error");
  if (error == nullptr) return std::numeric_limits<double>::infinity();
  const double end = error->value + error->ci95.value_or(0);
  return std::isfinite(end) ? end : std::numeric_limits<double>::infinity();
}

}  // namespace hot::select
