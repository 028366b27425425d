#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu.hpp"

namespace hot::kernels {

/// Clocks, temperature and what holds clocks down right now, from NVML, which comes with the driver
/// and is loaded when this is called. `bus` is the GPU's PCI address. Nothing where NVML isn't
/// there or doesn't tell.
[[nodiscard]] std::optional<GpuState> gpu_state(const std::string& bus,
                                                const std::string& library = "libnvidia-ml.so.1");

/// The driver's version, "580.65.06"; empty where NVML isn't there.
[[nodiscard]] std::string driver_version(const std::string& library = "libnvidia-ml.so.1");

/// NVML's bits of why clocks are held down as phrases; an idle GPU and clocks that were set are
/// none.
[[nodiscard]] std::vector<std::string> throttle_reasons(std::uint64_t bits);

}  // namespace hot::kernels
