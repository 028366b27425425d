#include "kernels/sim/memory.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

namespace hot::kernels::sim {
namespace {

constexpr std::align_val_t kAlignment{256};
constexpr int kPattern = 0xCD;

std::mutex mutex;

/// Allocations by their address.
std::map<std::uintptr_t, std::size_t>& allocations() {
  static std::map<std::uintptr_t, std::size_t> all;
  return all;
}

}  // namespace

void* allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes + 1, kAlignment);
  std::memset(memory, kPattern, bytes + 1);
  const std::scoped_lock lock(mutex);
  allocations()[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
  return memory;
}

void release(void* memory) {
  if (memory == nullptr) return;
  {
    const std::scoped_lock lock(mutex);
    allocations().erase(reinterpret_cast<std::uintptr_t>(memory));
  }
  ::operator delete(memory, kAlignment);
}

void check_access(const void* at, std::size_t bytes, std::size_t alignment, const char* access) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const std::scoped_lock lock(mutex);
  auto found = allocations().upper_bound(address);
  if (found == allocations().begin() || address % alignment != 0)
    throw std::out_of_range(
        std::string(access) + " of " + std::to_string(bytes) +
        (address % alignment != 0 ? " bytes is misaligned" : " bytes outside device memory"));
  --found;
  const std::size_t offset = address - found->first;
  if (offset + bytes > found->second)
    throw std::out_of_range(std::string(access) + " of " + std::to_string(bytes) + " bytes at " +
                            std::to_string(offset) + " of a buffer of " +
                            std::to_string(found->second));
}

}  // namespace hot::kernels::sim
