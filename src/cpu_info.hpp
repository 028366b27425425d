#pragma once

#include <string>
#include <vector>

namespace hot {

/// What the operating system says about the CPU.
struct CpuInfo {
  std::string brand;  ///< e.g. "AMD EPYC 7763 64-Core Processor"; "unknown" where it isn't told
  int cores = 0;      ///< those that this process may use
  std::vector<std::string>
      features;  ///< of AVX2, AVX-512, AVX-512 VNNI, AVX VNNI, AMX INT8: those that it has
};

[[nodiscard]] CpuInfo cpu_info();

/// The same from a text in the format of /proc/cpuinfo; `cores` stays 0.
[[nodiscard]] CpuInfo parse_cpuinfo(const std::string& text);

}  // namespace hot
