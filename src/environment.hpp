#pragma once

#include <string>

#include "core/report.hpp"

namespace hot {

/// What this process runs on: the device that was chosen, the CPU, LibTorch and its threads, the
/// kernels in force and the integer GEMM route.
[[nodiscard]] Environment describe_environment(const std::string& device = "cpu");

}  // namespace hot
