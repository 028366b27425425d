#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hot {

/// What a GPU does with products of one number format.
struct FormatFact {
  std::string format;   ///< "int8", "fp8" …
  std::string support;  ///< "native", "emulated" or "absent"
  std::string how;      ///< which instruction or library, as a phrase
};

/// How a GPU ran at one moment, by its driver's own report.
struct GpuState {
  int sm_mhz = 0;
  int memory_mhz = 0;
  int celsius = 0;
  std::vector<std::string> throttled;  ///< why clocks are held down, as phrases; empty: they aren't
};

/// The GPU that something ran on, or was planned for.
struct GpuFacts {
  std::string name;
  std::string capability;  ///< compute capability, "9.0"
  std::int64_t memory_bytes = 0;
  int sm_mhz = 0;      ///< the highest
  int memory_mhz = 0;  ///< the highest
  int processors = 0;
  std::string driver;  ///< "CUDA 13.0, 580.65.06"
  std::vector<FormatFact> formats;
  std::optional<GpuState> before, after;  ///< the run; nothing where the driver doesn't tell
};

}  // namespace hot
