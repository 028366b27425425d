#pragma once

#include "kernels/ops.hpp"

namespace hot::kernels {

/// A backend's table, or nullptr where the processor (or the build) lacks the instructions.
using CpuBackend = const Ops* (*)();

[[nodiscard]] const Ops* portable_backend();
[[nodiscard]] const Ops* avx2_backend();
[[nodiscard]] const Ops* avx512_backend();

}  // namespace hot::kernels
