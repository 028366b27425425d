#include "analyzers/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analyzers/verify/gradients.hpp"
#include "analyzers/verify/judge.hpp"
#include "analyzers/verify/step_run.hpp"
#include "analyzers/verify/timings.hpp"
#include "backward/layer_book.hpp"
#include "core/interrupt.hpp"

namespace hot::verify {
namespace {

Replaced planned_layers(const Plan& plan) {
  Replaced layers;
  for (const auto& layer : plan.layers) {
    if (layer.grad_input.is_exact() && layer.grad_weight.is_exact()) continue;
    layers[layer.name] = {layer.grad_input, layer.grad_weight};
  }
  return layers;
}

/// Every eligible layer with its backward replaced and left exact.
Replaced exactly_replaced(const Trace& trace) {
  Replaced layers;
  for (const auto& layer : trace.layers) {
    if (layer.eligible) layers[layer.name] = {};
  }
  return layers;
}

/// The gradient of one layer's weight in both runs.
GradientComparison compare_layer(const models::Model& model, const std::string& layer,
                                 const StepRun& exact, const StepRun& plan) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    if (backward::layer_name_of_parameter(model.parameters[i].names.front()) == layer) {
      return compare({exact.step.gradients[i]}, {plan.step.gradients[i]});
    }
  }
  return {};
}

std::int64_t bytes_of(const StepRun& run, const std::string& layer) {
  const auto found = run.saved_by_layer.find(layer);
  return found == run.saved_by_layer.end() ? 0 : found->second;
}

void set_bytes(Metrics& metrics, const std::string& name, std::int64_t exact, std::int64_t plan) {
  metrics.set(name + "_exact", static_cast<double>(exact), Origin::measured);
  metrics.set(name + "_plan", static_cast<double>(plan), Origin::measured);
}

void set_gradient(Metrics& metrics, const GradientComparison& gradient) {
  if (!gradient.finite) return;
  metrics.set("gradient_error", gradient.relative_error, Origin::measured);
  metrics.set("gradient_cosine", gradient.cosine, Origin::measured);
}

void add_notes(Verification& verification) {
  const auto* check = verification.total.find("self_check");
  if (check != nullptr && check->value > kSelfCheckTolerance) {
    verification.notes.push_back(fmt::format(
        "replacing every layer exactly changes the gradients by {:.1e} of their norm; this "
        "model's gradients are sensitive to the order of float32 sums",
        check->value));
  }
  const auto* before = verification.total.find("saved_bytes_exact");
  const auto* after = verification.total.find("saved_bytes_plan");
  if (before != nullptr && after != nullptr && after->value > before->value) {
    verification.notes.push_back(
        "the plan keeps more for backward than exact training: other operations hold the same "
        "float "
        "activations anyway");
  }
}

}  // namespace

Verification verify(const models::Model& model, const models::Inputs& inputs,
                    const models::Loss& loss, const Trace& trace, const Plan& plan,
                    const Options& options, const Progress& progress) {
  const StepSetting setting{model, inputs.batches.front(), loss, options.seed};
  const Replaced replaced = planned_layers(plan);
  const std::int64_t steps = replaced.empty() ? 2 : 3 + 2 * options.repeats;
  std::int64_t done = 0;
  const auto next = [&](std::string_view what) {
    throw_if_interrupted();
    if (progress) progress("verify", done, steps, what);
    ++done;
  };

  next("exact step");
  const StepRun exact = counted_step(setting, {}, false);
  Verification result;
  const Replaced self = exactly_replaced(trace);
  if (!self.empty()) {
    next("exact replacement");
    const StepRun own = counted_step(setting, self, false);
    result.total.set("self_check", compare(exact.step.gradients, own.step.gradients).relative_error,
                     Origin::measured);
  }

  StepRun planned;
  Timings timings;
  if (!replaced.empty()) {
    next("planned step");
    planned = counted_step(setting, replaced, true);
    set_gradient(result.total, compare(exact.step.gradients, planned.step.gradients));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < options.repeats; ++i) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      if (i >= 2 && spent.count() > options.seconds) break;
      next("timing exact");
      const auto exact_time = timed_step(setting, {});
      next("timing the plan");
      timings.add(exact_time, timed_step(setting, replaced));
    }
  }

  std::vector<std::string> changed;
  for (const auto& layer_plan : plan.layers) {
    LayerVerification layer;
    layer.name = layer_plan.name;
    const auto traced = std::find_if(trace.layers.begin(), trace.layers.end(),
                                     [&](const auto& l) { return l.name == layer.name; });
    GradientComparison gradient;
    const backward::LayerRuns* runs = nullptr;
    if (replaced.contains(layer.name)) {
      changed.push_back(layer.name);
      timings.report_layer(layer.name, layer.metrics);
      set_bytes(layer.metrics, "saved_bytes", bytes_of(exact, layer.name),
                bytes_of(planned, layer.name));
      gradient = compare_layer(model, layer.name, exact, planned);
      set_gradient(layer.metrics, gradient);
      if (const auto found = planned.runs.find(layer.name); found != planned.runs.end()) {
        runs = &found->second;
        layer.metrics.set("kernel_deviation", runs->kernel_deviation, Origin::measured);
      }
    }
    if (traced != trace.layers.end()) judge_layer(layer, *traced, layer_plan, runs, gradient);
    result.layers.push_back(std::move(layer));
  }
  if (!replaced.empty()) {
    timings.report_total(changed, result.total);
    set_bytes(result.total, "saved_bytes", exact.saved_bytes, planned.saved_bytes);
    set_bytes(result.total, "peak_bytes", exact.peak_bytes, planned.peak_bytes);
  }
  judge_total(result);
  add_notes(result);
  if (progress) progress("verify", steps, steps, "");
  return result;
}

}  // namespace hot::verify
