#include "analyzers/trace/trace.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "analyzers/trace/findings.hpp"
#include "analyzers/trace/step_watcher.hpp"
#include "backward/peak_memory.hpp"
#include "backward/recorder.hpp"
#include "backward/saved_bytes.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace hot::trace {
namespace {

/// Throws ModelError when the step ran into NaN or infinity, naming where it began.
void require_finite(const StepWatcher& watcher, double loss) {
  const std::string remedy =
      "; check the weights, or give real data with --data (random inputs may be out of range)";
  if (!watcher.bad_input().empty()) {
    throw ModelError(
        fmt::format("the input of layer '{}' holds NaN or infinity in the forward pass{}",
                    watcher.bad_input(), remedy));
  }
  if (!std::isfinite(loss)) {
    throw ModelError(
        fmt::format("the loss is {}: NaN or infinity arises after the last layer with a weight{}",
                    loss, remedy));
  }
  if (!watcher.bad_gradient().empty()) {
    throw ModelError(fmt::format("the gradient at the output of layer '{}' is NaN or infinite{}",
                                 watcher.bad_gradient(), remedy));
  }
}

LayerTrace layer_of(const backward::Site& site, const StepWatcher::SiteWork& work) {
  LayerTrace layer;
  layer.name = site.name;
  layer.aliases = site.aliases;
  layer.kind = site.kind;
  layer.op = site.op;
  layer.calls = site.calls;
  layer.weight_shape = site.weight_shape;
  layer.work = work.paths;
  layer.reason = site.obstacle;
  return layer;
}

/// Watches one step and fills everything but what a plain step is for. Its gradients go with it.
Trace observe(const models::Model& model, const models::Batch& batch, const models::Loss& loss,
              std::uint64_t seed) {
  Trace result;
  StepWatcher watcher;
  models::StepResult step;
  std::vector<backward::Site> sites;
  std::map<std::string, std::int64_t> saved;
  {
    backward::Recorder recorder(model, watcher);
    backward::SavedBytes bytes(model);
    step = models::run_step(model, batch, loss, seed, [&] {
      saved = bytes.by_owner();
      result.saved_bytes = bytes.total();
    });
    recorder.rethrow();
    sites = recorder.sites();
  }
  throw_if_interrupted();
  require_finite(watcher, step.loss);

  auto work = watcher.work();
  work.resize(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    auto layer = layer_of(sites[i], work[i]);
    if (const auto found = saved.find(layer.name); found != saved.end()) {
      layer.saved_activation_bytes = found->second;
    }
    judge(layer, sites[i], work[i], model, step.gradients);
    result.layers.push_back(std::move(layer));
  }
  result.forward_flops = watcher.forward_flops();
  result.backward_flops = watcher.backward_flops();
  result.loss = step.loss;
  result.notes = model_findings(result, sites, model, step.gradients);
  return result;
}

}  // namespace

Trace trace(const models::Model& model, const models::Inputs& inputs, const models::Loss& loss,
            std::uint64_t seed, const Progress& progress) {
  const auto& batch = inputs.batches.front();
  const auto tell = [&](std::int64_t done, std::string_view what) {
    if (progress) progress("trace", done, 2, what);
  };
  backward::SavedBytes::install();

  tell(0, "observed step");
  Trace result = observe(model, batch, loss, seed);

  tell(1, "plain step");
  {
    backward::PeakMemory memory(model.device);
    const auto plain = models::run_step(model, batch, loss, seed);
    result.peak_bytes = memory.peak_bytes();
    result.step_seconds = plain.forward_seconds + plain.backward_seconds;
  }
  throw_if_interrupted();
  tell(2, "");
  return result;
}

}  // namespace hot::trace
