#include "analyzers/select/predict.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "analyzers/select/cost.hpp"

namespace hot::select {
namespace {

/// Weighted mean; 1 of nothing.
struct Mean {
  double sum = 0;
  double weight = 0;
  void add(double value, double w) {
    sum += value * w;
    weight += w;
  }
};

struct Totals {
  Mean cost;
  Mean saved;
  Mean error;
  double largest_error = 0;
  Origin error_origin = Origin::measured;
  int changed = 0;
  bool errors_known = true;
};

void add_path(Totals& totals, const LayerTrace& layer, Path path, const Scheme& scheme,
              const ErrorTable& errors) {
  const PathWork& work = layer.path(path);
  if (work.flops == 0) return;
  const auto flops = static_cast<double>(work.flops);
  totals.cost.add(modelled_cost(scheme, work), flops);
  if (scheme.is_exact()) {
    totals.error.add(0, flops);
    return;
  }
  ++totals.changed;
  const ErrorRow* row = errors.find(layer.name, path, scheme);
  const Metric* error = row == nullptr ? nullptr : row->metrics.find("relative_error");
  if (error == nullptr) {
    totals.errors_known = false;
    return;
  }
  totals.error.add(error->value, flops);
  totals.largest_error = std::max(totals.largest_error, error->value);
  if (error->origin != Origin::measured) totals.error_origin = error->origin;
}

/// Sums over the whole plan of what was found for each gradient; known while nothing is missing.
struct WholeSums {
  ErrorParts error;
  double ms = 0, exact_ms = 0;
  double kept = 0;
  bool error_known = true, time_known = true, bytes_known = true;
  Origin time_origin = Origin::measured;

  void add(const LayerTrace& layer, Path path, const Scheme& scheme, const ErrorTable& errors) {
    if (layer.path(path).flops == 0) return;
    const bool input = path == Path::grad_input;
    const Metric* exact = errors.fact(layer.name, input ? "exact_input_ms" : "exact_weight_ms");
    if (exact == nullptr) {
      time_known = false;
    } else {
      exact_ms += exact->value;
      if (exact->origin != Origin::measured) time_origin = exact->origin;
    }
    if (scheme.is_exact()) {
      ms += exact == nullptr ? 0 : exact->value;
      return;
    }
    const ErrorRow* row = errors.find(layer.name, path, scheme);
    const auto found = [&](const char* name) {
      return row == nullptr ? nullptr : row->metrics.find(name);
    };
    const Metric* share = errors.fact(layer.name, input ? "input_share" : "weight_share");
    const Metric* relative = found("relative_error");
    if (share == nullptr || relative == nullptr) {
      error_known = false;
    } else {
      (input ? error.input : error.weight) += share->value * relative->value * relative->value;
    }
    const Metric* time = found("time_ms");
    if (time == nullptr) {
      time_known = false;
    } else {
      ms += time->value;
      if (time->origin != Origin::measured) time_origin = time->origin;
    }
    const Metric* bytes = found("kept_bytes");
    if (!input && bytes == nullptr) bytes_known = false;
    if (bytes != nullptr) {
      kept += bytes->value;
      if (bytes->value > 0) releasing.insert(layer.name);
    }
  }

  [[nodiscard]] double saved_bytes(const Trace& trace, const ErrorTable& errors) const {
    double bytes = static_cast<double>(trace.saved_bytes) + kept;
    for (const KeptActivation& a : errors.activations) {
      const bool goes = std::all_of(a.layers.begin(), a.layers.end(), [&](const std::string& name) {
        return releasing.contains(name);
      });
      if (goes && !a.held_by_others) bytes -= static_cast<double>(a.bytes);
    }
    return bytes;
  }

  std::set<std::string> releasing;
};

}  // namespace

Metrics predict(const Plan& plan, const Trace& trace, const ErrorTable& errors) {
  Totals totals;
  WholeSums whole;
  for (const LayerTrace& layer : trace.layers) {
    const LayerPlan* planned = plan.find(layer.name);
    if (!layer.eligible || planned == nullptr) continue;
    add_path(totals, layer, Path::grad_input, planned->grad_input, errors);
    add_path(totals, layer, Path::grad_weight, planned->grad_weight, errors);
    whole.add(layer, Path::grad_input, planned->grad_input, errors);
    whole.add(layer, Path::grad_weight, planned->grad_weight, errors);
    totals.saved.add(modelled_saved_fraction(planned->grad_weight, layer), input_bytes(layer));
  }
  Metrics metrics;
  if (totals.cost.weight > 0 && whole.error_known && !errors.facts.empty()) {
    metrics.set("predicted_error", std::sqrt(whole.error.input + whole.error.weight),
                Origin::modelled);
  }
  if (totals.cost.weight > 0 && whole.time_known) {
    metrics.set("predicted_ms", whole.ms, Origin::modelled);
    metrics.set("predicted_exact_ms", whole.exact_ms, whole.time_origin);
  }
  if (!errors.activations.empty() && whole.bytes_known) {
    metrics.set("predicted_saved_bytes", whole.saved_bytes(trace, errors), Origin::modelled);
  }
  if (totals.cost.weight > 0) {
    metrics.set("cost", totals.cost.sum / totals.cost.weight, Origin::modelled);
  }
  if (totals.saved.weight > 0) {
    metrics.set("saved_fraction", totals.saved.sum / totals.saved.weight, Origin::modelled);
  }
  if (totals.changed > 0 && totals.errors_known) {
    metrics.set("largest_relative_error", totals.largest_error, totals.error_origin);
    metrics.set("mean_relative_error", totals.error.sum / totals.error.weight, totals.error_origin);
  }
  return metrics;
}

std::optional<ErrorParts> error_parts(const Plan& plan, const Trace& trace,
                                      const ErrorTable& errors) {
  WholeSums whole;
  for (const LayerTrace& layer : trace.layers) {
    const LayerPlan* planned = plan.find(layer.name);
    if (!layer.eligible || planned == nullptr) continue;
    whole.add(layer, Path::grad_input, planned->grad_input, errors);
    whole.add(layer, Path::grad_weight, planned->grad_weight, errors);
  }
  if (!whole.error_known) return std::nullopt;
  return whole.error;
}

}  // namespace hot::select
