#include "reports/profile_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hot::reports {

Roofline roofline(const LayerTimes& layer, const Metrics& metrics) {
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
  for (std::size_t p = 0; p < 3; ++p) {
    flops += static_cast<double>(layer.flops[p]);
    bytes += static_cast<double>(layer.bytes[p]);
    seconds += layer.seconds[p];
  }
  Roofline line;
  if (seconds <= 0 || bytes <= 0) return line;
  const double peak = metrics.value("gemm_flops_per_second");
  line.flops_per_second = flops / seconds;
  line.bytes_per_second = bytes / seconds;
  line.intensity = flops / bytes;
  const double by_memory = line.intensity * metrics.value("copy_bytes_per_second");
  line.memory_bound = by_memory < peak;
  line.ceiling = std::min(peak, by_memory);
  return line;
}

std::vector<const LayerTimes*> longest_layers(const TimeProfile& time) {
  std::vector<const LayerTimes*> layers;
  for (const LayerTimes& layer : time.layers) layers.push_back(&layer);
  std::stable_sort(layers.begin(), layers.end(),
                   [](const auto* a, const auto* b) { return a->total() > b->total(); });
  return layers;
}

std::string ms_text(double seconds) {
  const double ms = seconds * 1e3;
  return ms >= 999.5 ? fmt::format("{:.0f}", ms) : fmt::format("{:.3g}", ms);
}

std::string percent_text(double share) {
  return fmt::format("{:.3g} %", share * 100);
}

}  // namespace hot::reports
