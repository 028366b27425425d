#include "models/file/memory_limit.hpp"

#include <fstream>
#include <string>

namespace hot::models {
namespace {

/// Bytes of private writable memory that the process has mapped; 0 where the system doesn't tell.
std::uint64_t bytes_in_use() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (std::uint64_t kibibytes = 0; word == "VmData:" && status >> kibibytes)
      return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

MemoryLimit::MemoryLimit(std::uint64_t bytes) {
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) != 0 || ::getrlimit(RLIMIT_DATA, &before_) != 0) return;
  const std::uint64_t used = bytes_in_use();
  if (used == 0 || space.rlim_cur != RLIM_INFINITY || before_.rlim_cur <= used + bytes) return;
  const rlimit limit{used + bytes, before_.rlim_max};
  holds_ = ::setrlimit(RLIMIT_DATA, &limit) == 0;
}

MemoryLimit::~MemoryLimit() {
  if (holds_) ::setrlimit(RLIMIT_DATA, &before_);
}

}  // namespace hot::models
