#include "analyzers/select/predict.hpp"

#include <algorithm>

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

}  // namespace

Metrics predict(const Plan& plan, const Trace& trace, const ErrorTable& errors) {
  Totals totals;
  for (const LayerTrace& layer : trace.layers) {
    const LayerPlan* planned = plan.find(layer.name);
    if (!layer.eligible || planned == nullptr) continue;
    add_path(totals, layer, Path::grad_input, planned->grad_input, errors);
    add_path(totals, layer, Path::grad_weight, planned->grad_weight, errors);
    totals.saved.add(modelled_saved_fraction(planned->grad_weight, layer), input_bytes(layer));
  }
  Metrics metrics;
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

}  // namespace hot::select
