#include "cpu_info.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <fstream>
#include <sstream>

namespace hot {
namespace {

struct Feature {
  const char* flag;  ///< the kernel's word for it
  const char* name;
};

constexpr std::array<Feature, 5> kFeatures = {{{"avx2", "AVX2"},
                                               {"avx512f", "AVX-512"},
                                               {"avx512_vnni", "AVX-512 VNNI"},
                                               {"avx_vnni", "AVX VNNI"},
                                               {"amx_int8", "AMX INT8"}}};

/// The value of the first line "key : value"; empty if there is none.
std::string first_value(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    const auto begin = line.find_first_not_of(' ', colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

CpuInfo parse_cpuinfo(const std::string& text) {
  CpuInfo info;
  info.brand = first_value(text, "model name");
  if (info.brand.empty()) info.brand = "unknown";
  const std::string flags = fmt::format(" {} ", first_value(text, "flags"));
  for (const Feature& feature : kFeatures)
    if (flags.find(fmt::format(" {} ", feature.flag)) != std::string::npos)
      info.features.emplace_back(feature.name);
  return info;
}

CpuInfo cpu_info() {
  std::ostringstream text;
  text << std::ifstream("/proc/cpuinfo").rdbuf();
  CpuInfo info = parse_cpuinfo(text.str());
  info.cores = usable_cores();
  return info;
}

}  // namespace hot
