#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/cuda/device.hpp"

#ifdef __CUDACC__
#include <cuda_runtime_api.h>
#endif

// The one way in which kernels start.

namespace hot::kernels::HOT_SIDE {

#ifdef __CUDACC__
/// Blocks that a multiprocessor must have registers for: two, or what the kernel asks for.
template <class Kernel>
constexpr int resident_blocks() {
  if constexpr (requires { Kernel::kResidentBlocks; }) return Kernel::kResidentBlocks;
  return 2;
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, resident_blocks<Kernel>())
    run_kernel(const __grid_constant__ typename Kernel::Params params) {
  extern __shared__ __align__(16) char shared[];
  Kernel::run(params, shared);
}

/// Puts `blocks` thread blocks of Kernel onto `stream`, a cudaStream_t; doesn't wait. Throws
/// std::runtime_error with CUDA's words.
template <class Kernel>
void launch(void* stream, std::int64_t blocks, const typename Kernel::Params& params) {
  if (blocks == 0) return;
  run_kernel<Kernel><<<static_cast<unsigned>(blocks), Kernel::kThreads,
                       Kernel::shared_bytes(params), static_cast<cudaStream_t>(stream)>>>(params);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess)
    throw std::runtime_error(std::string("a kernel could not start: ") + cudaGetErrorString(error));
}
#else
/// Runs `blocks` thread blocks of Kernel to their end.
template <class Kernel>
void launch(void* /*stream*/, std::int64_t blocks, const typename Kernel::Params& params) {
  run_blocks(blocks, Kernel::kThreads, Kernel::shared_bytes(params),
             [&](char* shared) { Kernel::run(params, shared); });
}
#endif

}  // namespace hot::kernels::HOT_SIDE
