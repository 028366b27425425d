#include "gpu_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/device_truth.hpp"
#include "kernels/gpu_state.hpp"

namespace hot {

GpuFacts gpu_facts(const kernels::CudaDevice& device, const std::string& driver) {
  GpuFacts facts;
  facts.name = device.name;
  facts.capability = fmt::format("{}.{}", device.major, device.minor);
  facts.memory_bytes = device.memory_bytes;
  facts.sm_mhz = device.clock_mhz;
  facts.memory_mhz = device.memory_clock_mhz;
  facts.processors = device.processors;
  const std::string version = kernels::driver_version();
  facts.driver = fmt::format("CUDA {}{}{}", driver, version.empty() ? "" : ", ", version);
  for (const kernels::FormatSupport& f : kernels::format_support(device.major, device.minor))
    facts.formats.push_back({std::string(f.format), std::string(kernels::to_string(f.support)),
                             f.support == kernels::Support::absent ? "" : std::string(f.how)});
  facts.before = kernels::gpu_state(device.bus);
  return facts;
}

std::set<Format> emulated_formats(const GpuFacts& gpu) {
  std::set<Format> formats;
  for (const FormatFact& f : gpu.formats)
    if (f.support == "emulated" && f.format == "int4") formats.insert(Format::int4);
  return formats;
}

bool has_native_fp8(const GpuFacts& gpu) {
  return std::any_of(gpu.formats.begin(), gpu.formats.end(), [](const FormatFact& f) {
    return f.format == "fp8" && f.support == "native";
  });
}

std::string emulation_note(const GpuFacts& gpu) {
  std::string note;
  for (const FormatFact& f : gpu.formats) {
    if (f.support != "emulated") continue;
    if (!note.empty()) note += ' ';
    note += fmt::format(
        "{} has no {} instructions ({}): the plan claims no speed for {}, only less memory.",
        gpu.name, f.format, f.how, f.format);
  }
  return note;
}

}  // namespace hot
