#include "reports/json_gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hot::reports {
namespace {

Json state_json(const GpuState& state) {
  return {{"origin", "measured"},
          {"sm_mhz", state.sm_mhz},
          {"memory_mhz", state.memory_mhz},
          {"celsius", state.celsius},
          {"throttled", state.throttled}};
}

GpuState read_state(const JsonPart& part) {
  part.expect_keys({"origin", "sm_mhz", "memory_mhz", "celsius", "throttled"});
  GpuState state{static_cast<int>(part.at("sm_mhz").integer()),
                 static_cast<int>(part.at("memory_mhz").integer()),
                 static_cast<int>(part.at("celsius").integer()),
                 {}};
  const JsonPart reasons = part.at("throttled");
  for (std::size_t i = 0; i < reasons.array_size(); ++i)
    state.throttled.push_back(reasons.at(i).text());
  return state;
}

std::string state_text(const GpuState& state) {
  return fmt::format("SM {} MHz, memory {} MHz, {} °C, {} (measured)", state.sm_mhz,
                     state.memory_mhz, state.celsius,
                     state.throttled.empty()
                         ? "not throttled"
                         : fmt::format("throttled: {}", fmt::join(state.throttled, ", ")));
}

}  // namespace

Json gpu_json(const GpuFacts& gpu) {
  Json formats = Json::array();
  for (const FormatFact& f : gpu.formats)
    formats.push_back({{"format", f.format}, {"support", f.support}, {"how", f.how}});
  Json json = {
      {"name", gpu.name},     {"capability", gpu.capability}, {"memory_bytes", gpu.memory_bytes},
      {"sm_mhz", gpu.sm_mhz}, {"memory_mhz", gpu.memory_mhz}, {"processors", gpu.processors},
      {"driver", gpu.driver}, {"formats", std::move(formats)}};
  if (gpu.before) json["before"] = state_json(*gpu.before);
  if (gpu.after) json["after"] = state_json(*gpu.after);
  return json;
}

GpuFacts read_gpu(const JsonPart& part) {
  part.expect_keys({"name", "capability", "memory_bytes", "sm_mhz", "memory_mhz", "processors",
                    "driver", "formats"},
                   {"before", "after"});
  GpuFacts gpu;
  gpu.name = part.at("name").text();
  gpu.capability = part.at("capability").text();
  gpu.memory_bytes = part.at("memory_bytes").integer();
  gpu.sm_mhz = static_cast<int>(part.at("sm_mhz").integer());
  gpu.memory_mhz = static_cast<int>(part.at("memory_mhz").integer());
  gpu.processors = static_cast<int>(part.at("processors").integer());
  gpu.driver = part.at("driver").text();
  const JsonPart formats = part.at("formats");
  for (std::size_t i = 0; i < formats.array_size(); ++i) {
    const JsonPart f = formats.at(i);
    f.expect_keys({"format", "support", "how"});
    gpu.formats.push_back({f.at("format").text(), f.at("support").text(), f.at("how").text()});
  }
  if (part.has("before")) gpu.before = read_state(part.at("before"));
  if (part.has("after")) gpu.after = read_state(part.at("after"));
  return gpu;
}

std::vector<std::pair<std::string, std::string>> gpu_lines(const GpuFacts& gpu) {
  std::vector<std::string> formats;
  for (const FormatFact& f : gpu.formats)
    formats.push_back(fmt::format("{} {}", f.format, f.support));
  std::vector<std::pair<std::string, std::string>> lines = {
      {"GPU", fmt::format("{}, compute capability {}, {} SMs, {:.1f} GiB, up to {} MHz (memory {} "
                          "MHz), driver {}",
                          gpu.name, gpu.capability, gpu.processors,
                          static_cast<double>(gpu.memory_bytes) / (1 << 30), gpu.sm_mhz,
                          gpu.memory_mhz, gpu.driver)},
      {"formats", fmt::format("{}", fmt::join(formats, ", "))}};
  if (gpu.before) lines.emplace_back("before", state_text(*gpu.before));
  if (gpu.after) lines.emplace_back("after", state_text(*gpu.after));
  return lines;
}

}  // namespace hot::reports
