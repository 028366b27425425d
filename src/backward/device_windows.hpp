#pragma once

#include <ATen/core/Tensor.h>

#include "backward/window_runs.hpp"

namespace hot::backward {

// Unfolding and folding of pixel rows where they lie on a device, by ATen's own kernels.

/// Pixel rows [N·pixels, C] of any type unfolded: [N·positions, places·C], zeros for padding.
[[nodiscard]] at::Tensor unfold_on_device(const at::Tensor& pixels, const WindowRuns& runs);

/// The adjoint: [N·positions, places·C] added back, [N·pixels, C]. Each pixel's sum runs in the
/// order of the positions, as on the CPU: one place after the other, from the last, reaches a pixel
/// once at most.
[[nodiscard]] at::Tensor fold_on_device(const at::Tensor& rows, const WindowRuns& runs);

}  // namespace hot::backward
