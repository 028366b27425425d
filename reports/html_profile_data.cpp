#include "reports/html_profile_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace hot::reports {
namespace {

constexpr double kMs = 1e3;
constexpr const char* kPeakFlops = "gemm_flops_per_second";
constexpr const char* kPeakBytes = "copy_bytes_per_second";

Json memory_step(const MemoryProfile& memory) {
  Json timeline = Json::array();
  for (const MemoryMoment& moment : memory.timeline) {
    Json row = {rounded_json(moment.seconds * kMs)};
    for (const std::int64_t bytes : moment.live) row.push_back(bytes);
    timeline.push_back(std::move(row));
  }
  const StepPlace& place = memory.peak_place;
  const std::string text = fmt::format("{}, {}{}", place.phase, place.op,
                                       place.layer.empty() ? "" : " of " + place.layer);
  return {{"timeline", std::move(timeline)},
          {"peak", memory.peak_bytes},
          {"place", text},
          {"saved", memory.saved_bytes}};
}

Json saved_by_layer(const MemoryComparison& memory) {
  std::map<std::string, std::int64_t> plan;
  if (memory.plan) {
    for (const SavedByLayer& s : memory.plan->saved) plan[s.layer] = s.bytes;
  }
  Json rows = Json::array();
  for (const SavedByLayer& s : memory.exact.saved) {
    const auto found = plan.find(s.layer);
    rows.push_back({s.layer, s.bytes,
                    !memory.plan          ? Json(nullptr)
                    : found == plan.end() ? Json(0)
                                          : Json(found->second)});
    if (found != plan.end()) plan.erase(found);
  }
  for (const auto& [layer, bytes] : plan) rows.push_back({layer, 0, bytes});
  return rows;
}

/// Bytes of both operands and the result in float32, once each.
double product_bytes(const PathWork& work) {
  double bytes = 0;
  double flops = 0;
  for (const GemmShape& g : work.gemms) {
    bytes += 4.0 * static_cast<double>(g.batch) *
             (static_cast<double>(g.m) * static_cast<double>(g.k) +
              static_cast<double>(g.k) * static_cast<double>(g.n) +
              static_cast<double>(g.m) * static_cast<double>(g.n));
    flops += static_cast<double>(g.flops());
  }
  // The shapes are distinct ones; the work is that of all calls.
  return flops > 0 ? bytes * static_cast<double>(work.flops) / flops : 0;
}

Json place_json(const std::string& layer, std::size_t path, double flops, double bytes,
                double exact_ms, const std::optional<double>& plan_ms) {
  return {layer,
          path,
          rounded_json(flops),
          rounded_json(bytes),
          rounded_json(exact_ms),
          plan_ms ? rounded_json(*plan_ms) : Json(nullptr)};
}

/// The products as `profile` timed them inside steps.
Json places_in_steps(const TimeComparison& time) {
  std::map<std::string, const LayerTimes*> plan;
  if (time.plan) {
    for (const LayerTimes& layer : time.plan->layers) plan[layer.name] = &layer;
  }
  Json places = Json::array();
  for (const LayerTimes& layer : time.exact.layers) {
    const auto found = plan.find(layer.name);
    for (std::size_t p = 0; p < layer.seconds.size(); ++p) {
      if (layer.seconds[p] <= 0 || layer.flops[p] <= 0 || layer.bytes[p] <= 0) continue;
      std::optional<double> plan_ms;
      if (found != plan.end() && layer.eligible && p > 0) plan_ms = found->second->seconds[p] * kMs;
      places.push_back(place_json(layer.name, p, static_cast<double>(layer.flops[p]),
                                  static_cast<double>(layer.bytes[p]), layer.seconds[p] * kMs,
                                  plan_ms));
    }
  }
  return places;
}

/// The products as the analysis timed them alone, for the choice of schemes.
Json places_alone(const Report& report) {
  Json places = Json::array();
  for (const LayerTrace& layer : report.trace->layers) {
    const LayerPlan* plan = report.plan ? report.plan->find(layer.name) : nullptr;
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      const bool input = path == Path::grad_input;
      const Metric* exact =
          report.errors->fact(layer.name, input ? "exact_input_ms" : "exact_weight_ms");
      const PathWork& work = layer.path(path);
      const double bytes = product_bytes(work);
      if (exact == nullptr || exact->value <= 0 || bytes <= 0) continue;
      std::optional<double> plan_ms;
      if (plan != nullptr) {
        const Scheme& pick = input ? plan->grad_input : plan->grad_weight;
        const ErrorRow* row =
            pick.is_exact() ? nullptr : report.errors->find(layer.name, path, pick);
        const Metric* time = row == nullptr ? nullptr : row->metrics.find("time_ms");
        if (time != nullptr && time->origin == Origin::measured) plan_ms = time->value;
      }
      places.push_back(place_json(layer.name, static_cast<std::size_t>(path),
                                  static_cast<double>(work.flops), bytes, exact->value, plan_ms));
    }
  }
  return places;
}

double sum(const std::vector<OpTimes>& ops) {
  double seconds = 0;
  for (const OpTimes& op : ops) seconds += op.seconds;
  return seconds * kMs;
}

Json parts_json(const LayerTimes& layer) {
  Json parts = Json::array();
  for (const double seconds : layer.seconds) parts.push_back(rounded_json(seconds * kMs));
  parts.push_back(rounded_json(layer.rest * kMs));
  return parts;
}

}  // namespace

Json rounded_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::trunc(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return std::stod(fmt::format("{:.4g}", value));
}

Json html_front(const Report& report) {
  if (!report.plan || report.plan->front.empty()) return nullptr;
  Json points = Json::array();
  for (const FrontPoint& p : report.plan->front) {
    points.push_back(
        {p.kind, p.name, rounded_json(p.error), rounded_json(p.ms), rounded_json(p.saved_bytes)});
  }
  return points;
}

Json html_memory(const Report& report) {
  if (!report.profile || !report.profile->memory) return nullptr;
  const MemoryComparison& memory = *report.profile->memory;
  Json uses = Json::array();
  for (std::size_t i = 0; i < kMemoryUses; ++i) {
    uses.push_back(to_string(static_cast<MemoryUse>(i)));
  }
  Json fixed = {{"parameters", memory.parameter_bytes}};
  if (memory.buffer_bytes > 0) fixed["buffers"] = memory.buffer_bytes;
  fixed["optimizer states (" + memory.optimizer + ")"] = memory.optimizer_bytes;
  return {{"uses", std::move(uses)},
          {"fixed", std::move(fixed)},
          {"exact", memory_step(memory.exact)},
          {"plan", memory.plan ? memory_step(*memory.plan) : Json(nullptr)},
          {"saved", saved_by_layer(memory)},
          {"explanation", memory.explanation}};
}

Json html_roofline(const Report& report) {
  const bool in_steps = report.profile && report.profile->time;
  const Metrics& metrics = in_steps ? report.profile->time->metrics : report.run;
  const Metric* flops = metrics.find(kPeakFlops);
  const Metric* bytes = metrics.find(kPeakBytes);
  if (flops == nullptr || bytes == nullptr || (!in_steps && !report.errors)) return nullptr;
  Json places = in_steps ? places_in_steps(*report.profile->time) : places_alone(report);
  if (places.empty()) return nullptr;
  return {{"flops", rounded_json(flops->value)},
          {"bytes", rounded_json(bytes->value)},
          {"in_steps", in_steps},
          {"places", std::move(places)}};
}

Json html_steps(const Report& report) {
  if (!report.profile || !report.profile->time) return nullptr;
  const TimeComparison& time = *report.profile->time;
  std::map<std::string, const LayerTimes*> plan;
  if (time.plan) {
    for (const LayerTimes& layer : time.plan->layers) plan[layer.name] = &layer;
  }
  Json layers = Json::array();
  for (const LayerTimes& layer : time.exact.layers) {
    const auto found = plan.find(layer.name);
    layers.push_back({layer.name, layer.eligible, parts_json(layer),
                      found == plan.end() ? Json(nullptr) : parts_json(*found->second)});
  }
  Json outside = Json::array();
  const auto add = [&](const char* name, auto&& part) {
    outside.push_back({name, rounded_json(part(time.exact)),
                       time.plan ? rounded_json(part(*time.plan)) : Json(nullptr)});
  };
  add("outside layers: forward", [](const TimeProfile& t) { return sum(t.forward_ops); });
  add("outside layers: backward", [](const TimeProfile& t) { return sum(t.backward_ops); });
  add("between: interpreter and autograd", [](const TimeProfile& t) { return t.between * kMs; });
  return {{"layers", std::move(layers)}, {"outside", std::move(outside)}};
}

}  // namespace hot::reports
