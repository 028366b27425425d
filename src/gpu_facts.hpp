#pragma once

#include <optional>

#include "core/gpu.hpp"
#include "kernels/devices.hpp"

namespace hot {

/// What this program knows of one of the GPUs, and how it runs now.
[[nodiscard]] GpuFacts gpu_facts(const kernels::CudaDevice& device, const std::string& driver);

/// The note that a plan for this GPU carries: formats whose products are emulated there, so that
/// nobody takes their name for speed. Empty where there are none.
[[nodiscard]] std::string emulation_note(const GpuFacts& gpu);

}  // namespace hot
