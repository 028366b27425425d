#pragma once

// What kernels may ask of the machine that runs them: a GPU (nvcc), or the simulator of
// kernels/sim (any other compiler). Kernels are structs with `Params` and a static
// `run(const Params&, char* shared)`; kernels/cuda/launch.hpp starts them. All their accesses to
// global memory go through load, store and atomic_max, which the simulator checks.

#include <bit>
#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace hot::kernels {

/// 16 bytes, the widest access of a thread.
struct alignas(16) Bytes16 {
  std::uint32_t word[4];
};
struct alignas(8) Bytes8 {
  std::uint32_t word[2];
};

constexpr int kWarp = 32;

}  // namespace hot::kernels

#ifdef __CUDACC__
#define HOT_DEVICE __device__ __forceinline__
#define HOT_UNROLL _Pragma("unroll")
#define HOT_ROLLED _Pragma("unroll 1")
#define HOT_SIDE cuda

namespace hot::kernels::cuda {

HOT_DEVICE int thread_index() {
  return static_cast<int>(threadIdx.x);
}
HOT_DEVICE std::int64_t block_index() {
  return blockIdx.x;
}
HOT_DEVICE void block_sync() {
  __syncthreads();
}

template <class T>
HOT_DEVICE T load(const T* from) {
  return *from;
}
template <>
HOT_DEVICE Bytes16 load<Bytes16>(const Bytes16* from) {
  const uint4 v = *reinterpret_cast<const uint4*>(from);
  return {{v.x, v.y, v.z, v.w}};
}
template <class T>
HOT_DEVICE void store(T* to, T value) {
  *to = value;
}
template <>
HOT_DEVICE void store<Bytes16>(Bytes16* to, Bytes16 v) {
  *reinterpret_cast<uint4*>(to) = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]);
}

/// Raises *at in global memory.
HOT_DEVICE void atomic_max(std::int32_t* at, std::int32_t value) {
  atomicMax(at, value);
}
/// Raises *at in shared memory.
HOT_DEVICE void shared_max(std::int32_t* at, std::int32_t value) {
  atomicMax(at, value);
}

/// The values of the lane whose number differs in the bits of `mask`.
template <int n>
HOT_DEVICE void shuffle_xor(const float (&values)[n], int mask, float (&other)[n]) {
  HOT_UNROLL
  for (int i = 0; i < n; ++i) other[i] = __shfl_xor_sync(0xffffffffU, values[i], mask);
}

}  // namespace hot::kernels::cuda
#else
#define HOT_DEVICE inline
#define HOT_UNROLL
#define HOT_ROLLED
#define HOT_SIDE sim
#include "kernels/sim/device.hpp"
#endif
