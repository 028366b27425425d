#pragma once

#include <cstdint>
#include <string>

namespace hot {

/// Bytes of the largest resident set that this process has had since its program started
/// (getrusage() would count the process that launched it as well); 0 where the system doesn't tell.
[[nodiscard]] std::int64_t peak_resident_bytes();

/// Bytes that this process may still take before the system ends it: what is free or can be freed,
/// swap, and the limits of its control group and its own (ulimit -d, -v); 0 where the system
/// doesn't tell. `root` stands before /proc and /sys.
[[nodiscard]] std::int64_t available_memory(const std::string& root = "");

}  // namespace hot
