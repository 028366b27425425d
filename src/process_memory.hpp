#pragma once

#include <cstdint>

namespace hot {

/// Bytes of the largest resident set that this process has had since its program started
/// (getrusage() would count the process that launched it as well); 0 where the system doesn't tell.
[[nodiscard]] std::int64_t peak_resident_bytes();

}  // namespace hot
