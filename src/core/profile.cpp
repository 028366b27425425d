#include "core/profile.hpp"

#include <cmath>

namespace hot {
namespace {

double sum(const std::vector<OpTimes>& ops) {
  double seconds = 0;
  for (const OpTimes& op : ops) seconds += op.seconds;
  return seconds;
}

}  // namespace

std::string_view to_string(MemoryUse use) {
  static constexpr std::array<std::string_view, kMemoryUses> names = {
      "input",           "saved activation", "activation", "gradient", "activation gradient",
      "optimizer state", "workspace"};
  return names.at(static_cast<std::size_t>(use));
}

double TimeProfile::layer_seconds() const {
  double seconds = 0;
  for (const LayerTimes& layer : layers) seconds += layer.total();
  return seconds;
}

double TimeProfile::op_seconds() const {
  return sum(forward_ops) + sum(backward_ops);
}

std::int64_t LineFit::largest(double limit) const {
  const double safe = limit / (1 + error);
  if (slope <= 0 || safe < constant) return 0;
  return static_cast<std::int64_t>(std::floor((safe - constant) / slope));
}

}  // namespace hot
