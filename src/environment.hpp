#pragma once

#include "core/report.hpp"

namespace hot {

/// What this process runs on: the CPU, LibTorch and its threads, the kernels in force and the
/// integer GEMM route.
[[nodiscard]] Environment describe_environment();

}  // namespace hot
