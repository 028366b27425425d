#include "analyzers/profile/target.hpp"

#include <algorithm>
#include <cmath>

namespace hot::profile {
namespace {

/// Seconds of a planned product: a pass over the operands, then integers of fewer bits and rows.
double planned(double flops, double bytes, const Scheme& scheme, const TargetRates& rates) {
  const double kept = scheme.transform.kind == Transform::Kind::lowrank
                          ? static_cast<double>(scheme.transform.rank) / scheme.transform.order
                          : 1;
  const int width = bits(scheme.format);
  double rate = rates.float32_flops;
  if (width == 8) rate = rates.int8_ops;
  if (width == 4) rate = rates.int4_ops > 0 ? rates.int4_ops : rates.int8_ops;
  const double small = bytes * kept * (width == 0 ? 32 : width) / 32;
  return bytes / rates.bytes_per_second +
         std::max(flops * kept / rate, small / rates.bytes_per_second);
}

double exact(double flops, double bytes, const TargetRates& rates) {
  return std::max(flops / rates.float32_flops, bytes / rates.bytes_per_second);
}

double layer_seconds(const LayerTimes& layer, const LayerPlan* plan, const TargetRates& rates) {
  double seconds = 0;
  for (const Path path : {Path::forward, Path::grad_input, Path::grad_weight}) {
    const auto p = static_cast<std::size_t>(path);
    const auto flops = static_cast<double>(layer.flops[p]);
    const auto bytes = static_cast<double>(layer.bytes[p]);
    Scheme scheme;
    if (plan != nullptr && path == Path::grad_input) scheme = plan->grad_input;
    if (plan != nullptr && path == Path::grad_weight) scheme = plan->grad_weight;
    if (flops == 0) continue;
    seconds +=
        scheme.is_exact() ? exact(flops, bytes, rates) : planned(flops, bytes, scheme, rates);
  }
  return seconds;
}

}  // namespace

const std::vector<TargetRates>& known_targets() {
  static const std::vector<TargetRates> targets = {
      {"rtx3090", 35.6e12, 284e12, 568e12, 936e9, 24e9,
       "NVIDIA Ampere GA102 whitepaper, dense rates"},
      {"a100", 19.5e12, 624e12, 1248e12, 2039e9, 80e9,
       "NVIDIA A100 80GB SXM data sheet, dense rates"},
      {"h100", 67e12, 1979e12, 0, 3.35e12, 80e9, "NVIDIA H100 SXM data sheet, dense rates"},
      {"h200", 67e12, 1979e12, 0, 4.8e12, 141e9, "NVIDIA H200 SXM data sheet, dense rates"},
      {"b200", 75e12, 4500e12, 0, 7.7e12, 180e9, "NVIDIA HGX B200 data sheet, a GPU's dense rates"},
  };
  return targets;
}

double model_seconds(const TimeProfile& step, const Plan* plan, const TargetRates& rates) {
  double seconds = 0;
  for (const LayerTimes& layer : step.layers)
    seconds += layer_seconds(layer, plan == nullptr ? nullptr : plan->find(layer.name), rates);
  for (const auto* ops : {&step.forward_ops, &step.backward_ops}) {
    for (const OpTimes& op : *ops)
      seconds += static_cast<double>(op.bytes) / rates.bytes_per_second;
  }
  return seconds;
}

TargetModel model_target(const TimeProfile& step, const Plan* plan, const TargetRates& rates,
                         const TargetRates& here, double measured_ms, std::int64_t bytes) {
  TargetModel model;
  model.rates = rates;
  model.exact_ms = model_seconds(step, nullptr, rates) * 1e3;
  if (plan != nullptr) model.plan_ms = model_seconds(step, plan, rates) * 1e3;
  if (measured_ms > 0)
    model.here_error = model_seconds(step, nullptr, here) * 1e3 / measured_ms - 1;
  model.bytes = bytes;
  model.fits = rates.memory_bytes <= 0 || static_cast<double>(bytes) <= rates.memory_bytes;
  return model;
}

}  // namespace hot::profile
