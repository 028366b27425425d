#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace hot::models {

/// While alive, this process may take at most so many bytes of memory more than it has: what asks
/// for more ends in std::bad_alloc, not in the system's killing the process. A lower limit that
/// someone has set before stays as it is.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::uint64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// False where nothing was limited: there was a lower limit, or the system doesn't tell what is
  /// in use.
  [[nodiscard]] bool holds() const { return holds_; }

 private:
  rlimit before_{};
  bool holds_ = false;
};

/// What reading records of `unpacked` bytes may take: several times that (a copy of each tensor in
/// another type, the code), and what a library takes anyway.
[[nodiscard]] constexpr std::uint64_t enough_memory(std::uint64_t unpacked) {
  return (std::uint64_t{1} << 30) + 4 * unpacked;
}

}  // namespace hot::models
