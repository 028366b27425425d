#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace hot::verify {

/// Two sets of parameter gradients, compared as one long vector each (methods.md, section 4); sums
/// in double.
struct GradientComparison {
  double relative_error = 0;  ///< ‖ĝ−g‖/‖g‖; 0 where both are zero
  double cosine = 1;
  bool finite = true;  ///< of ĝ
};

/// `exact` and `estimate` run parallel; undefined gradients count as zero. Sparse ones are compared
/// by their dense form.
[[nodiscard]] GradientComparison compare(const std::vector<at::Tensor>& exact,
                                         const std::vector<at::Tensor>& estimate);

}  // namespace hot::verify
