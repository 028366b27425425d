#include "reports/profile_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/profile_parts.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

constexpr std::size_t kNamed = 3;

/// The layers that take the first half of what all layers take, and what the step does beside them.
KeyFinding time_finding(const TimeComparison& time) {
  const double whole = time.metrics.value("step_exact_ms") / 1e3;
  const auto layers = longest_layers(time.exact);
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, layers.size()); ++i) {
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", layers[i]->name,
                         percent_text(layers[i]->total() / whole));
  }
  return {"Where time goes",
          fmt::format("Layers take {} of the step, operations outside of them {} (measured); the "
                      "longest: {}.",
                      percent_text(time.exact.layer_seconds() / whole),
                      percent_text(time.exact.op_seconds() / whole), names),
          "steps"};
}

KeyFinding memory_finding(const MemoryComparison& memory) {
  const MemoryProfile& exact = memory.exact;
  const auto saved = static_cast<double>(exact.at_peak[static_cast<std::size_t>(MemoryUse::saved)]);
  std::string text = fmt::format(
      "The peak of {} comes in {} and holds {} of saved activations (measured)",
      bytes_text(static_cast<double>(exact.peak_bytes)), exact.peak_place.phase, bytes_text(saved));
  if (memory.plan)
    text += fmt::format("; with the plan it is {}",
                        bytes_text(static_cast<double>(memory.plan->peak_bytes)));
  return {"Where memory goes", text + ".", "memory"};
}

KeyFinding bound_finding(const TimeComparison& time) {
  std::size_t by_memory = 0;
  std::size_t low = 0;
  std::size_t placed = 0;
  for (const LayerTimes& layer : time.exact.layers) {
    const Roofline line = roofline(layer, time.metrics);
    if (line.ceiling <= 0) continue;
    ++placed;
    by_memory += line.memory_bound ? 1 : 0;
    low += line.share() < 0.5 ? 1 : 0;
  }
  return {"What binds",
          fmt::format("{} of {} layers have so few FLOP per byte that memory bounds them; {} reach "
                      "less than half of what this machine allows them (measured).",
                      by_memory, placed, low),
          "roofline"};
}

}  // namespace

std::vector<KeyFinding> profile_findings(const Report& report) {
  if (!report.profile || !report.profile->time || report.profile->time->exact.layers.empty())
    return {};
  std::vector<KeyFinding> found = {time_finding(*report.profile->time)};
  if (report.profile->memory) found.push_back(memory_finding(*report.profile->memory));
  found.push_back(bound_finding(*report.profile->time));
  return found;
}

}  // namespace hot::reports
