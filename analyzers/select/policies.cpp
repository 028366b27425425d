#include "analyzers/select/policies.hpp"

#include <cmath>
#include <limits>

namespace hot::select {

const std::vector<Policy>& policies() {
  static const std::vector<Policy> table = {
      {"auto", "the cheapest scheme of each gradient under --max-error, else exact", choose_auto},
      {"hot", "HOT: had16+int4 with LQS for grad_input, low16r8+int8 for grad_weight", choose_hot},
      {"hlq", "HLQ: had16+int4/tensor for grad_input, low16r8+int8 for grad_weight", choose_hlq},
      {"lqs", "HOT's schemes where they stay under --max-error, else exact", choose_lqs},
  };
  return table;
}

double largest_error(const ErrorRow& row) {
  const Metric* error = row.metrics.find("relative_error");
  if (error == nullptr) return std::numeric_limits<double>::infinity();
  const double end = error->value + error->ci95.value_or(0);
  return std::isfinite(end) ? end : std::numeric_limits<double>::infinity();
}

}  // namespace hot::select
