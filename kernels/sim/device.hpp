#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/sim/block.hpp"
#include "kernels/sim/memory.hpp"

// The host's counterparts of what kernels/cuda/device.hpp offers on a GPU.

namespace hot::kernels::sim {

inline int thread_index() {
  return running_thread();
}
inline std::int64_t block_index() {
  return running_block();
}

template <class T>
T load(const T* from) {
  check_access(from, sizeof(T), alignof(T), "load");
  return *from;
}
template <class T>
void store(T* to, T value) {
  check_access(to, sizeof(T), alignof(T), "store");
  *to = value;
}
inline void atomic_max(std::int32_t* at, std::int32_t value) {
  check_access(at, sizeof(*at), alignof(std::int32_t), "atomic");
  if (value > *at) *at = value;
}
inline void shared_max(std::int32_t* at, std::int32_t value) {
  if (value > *at) *at = value;
}

template <int n>
void shuffle_xor(const float (&values)[n], int mask, float (&other)[n]) {
  shuffle_bytes(values, sizeof(values), mask, other);
}

}  // namespace hot::kernels::sim
