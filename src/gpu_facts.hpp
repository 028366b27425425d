#pragma once

#include <optional>
#include <set>

#include "core/gpu.hpp"
#include "core/scheme.hpp"
#include "kernels/devices.hpp"

namespace hot {

/// What this program knows of one of the GPUs, and how it runs now.
[[nodiscard]] GpuFacts gpu_facts(const kernels::CudaDevice& device, const std::string& driver);

/// The integer formats whose products are emulated on that GPU.
[[nodiscard]] std::set<Format> emulated_formats(const GpuFacts& gpu);

/// Whether its tensor cores multiply FP8 numbers.
[[nodiscard]] bool has_native_fp8(const GpuFacts& gpu);

/// The note that a plan for this GPU carries: formats whose products are emulated there, so that
/// nobody takes their name for speed. Empty where there are none.
[[nodiscard]] std::string emulation_note(const GpuFacts& gpu);

}  // namespace hot
