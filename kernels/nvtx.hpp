#pragma once

namespace hot::kernels {

/// Ranges in NVTX's domain `hot-analyze`, which Nsight shows; nothing where no tool listens, or
/// where this program was built without CUDA.
void nvtx_push(const char* text);
void nvtx_pop();

}  // namespace hot::kernels
