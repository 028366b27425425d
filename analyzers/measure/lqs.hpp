#pragma once

#include <ATen/core/Tensor.h>

namespace hot::measure {

/// Squared errors of the two quantizers that LQS chooses between (methods.md, section 3).
struct LqsErrors {
  double tensor = 0;  ///< ‖gy − Q4_tensor(gy)‖²
  double row = 0;     ///< ‖gy − Q4_row(gy)‖²
};

/// Of a contiguous, finite float32 matrix gy [L×O]: untransformed, 4 bits, nearest.
[[nodiscard]] LqsErrors lqs_errors(const at::Tensor& gy);

}  // namespace hot::measure
