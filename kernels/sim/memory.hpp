#pragma once

#include <cstddef>

namespace hot::kernels::sim {

/// Simulated device memory: `bytes` bytes at an address that is a multiple of 256, filled with a
/// pattern that is no sensible number. Kernels may touch these bytes and no others.
[[nodiscard]] void* allocate(std::size_t bytes);
void release(void* memory);

/// Throws std::out_of_range, naming the access, unless [at, at + bytes) lies inside one allocation
/// and `at` is a multiple of `alignment`.
void check_access(const void* at, std::size_t bytes, std::size_t alignment, const char* access);

}  // namespace hot::kernels::sim
