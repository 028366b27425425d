#pragma once

#include <string>

#include "core/profile.hpp"

namespace hot::reports {

/// Reads a device's rates from JSON: "name", "source", and numbers "float32_flops", "int8_ops",
/// "bytes_per_second", "memory_bytes", and where there are such units "int4_ops". Throws UsageError
/// naming the file and the key.
[[nodiscard]] TargetRates read_target(const std::string& text, const std::string& path);

}  // namespace hot::reports
