#include "analyzers/verify/step_run.hpp"

#include <memory>

#include "backward/peak_memory.hpp"
#include "backward/saved_bytes.hpp"

namespace hot::verify {
namespace {

struct NodeTimes : backward::Listener {
  void on_backward_done(const backward::Call& call, const device::Span& span) override {
    spans.emplace_back(call.operands.layer, span);
  }
  [[nodiscard]] std::map<std::string, double> by_layer() const {
    std::map<std::string, double> seconds;
    for (const auto& [layer, span] : spans) seconds[layer] += span.seconds();
    return seconds;
  }
  std::vector<std::pair<std::string, device::Span>> spans;
};

std::unique_ptr<backward::Replacement> replace(const StepSetting& setting, const Replaced& replaced,
                                               bool check) {
  if (replaced.empty()) return nullptr;
  return std::make_unique<backward::Replacement>(setting.model, replaced, setting.seed, check);
}

}  // namespace

Replaced planned_layers(const Plan& plan) {
  Replaced layers;
  for (const auto& layer : plan.layers) {
    if (layer.grad_input.is_exact() && layer.grad_weight.is_exact()) continue;
    layers[layer.name] = {layer.grad_input, layer.grad_weight};
  }
  return layers;
}

StepRun counted_step(const StepSetting& setting, const Replaced& replaced, bool check) {
  StepRun run;
  const auto replacement = replace(setting, replaced, check);
  NodeTimes unused;
  backward::Recorder recorder(setting.model, unused, false);  // names the owners of saved tensors
  backward::SavedBytes saved(setting.model);
  backward::PeakMemory memory(setting.model.device);
  run.step = models::run_step(setting.model, setting.batch, setting.loss, setting.seed, [&] {
    run.saved_bytes = saved.total();
    run.saved_by_layer = saved.by_owner();
  });
  recorder.rethrow();
  run.peak_bytes = memory.peak_bytes();
  if (replacement) run.runs = replacement->runs();
  return run;
}

StepRun timed_step(const StepSetting& setting, const Replaced& replaced) {
  StepRun run;
  const auto replacement = replace(setting, replaced, false);
  NodeTimes times;
  backward::Recorder recorder(setting.model, times, false);
  run.step = models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
  recorder.rethrow();
  run.step.gradients.clear();
  run.backward_seconds = times.by_layer();
  if (replacement) run.runs = replacement->runs();
  return run;
}

std::map<std::string, double> layer_seconds(const StepRun& run) {
  std::map<std::string, double> seconds = run.backward_seconds;
  for (const auto& [layer, runs] : run.runs) seconds[layer] += runs.forward_seconds;
  return seconds;
}

}  // namespace hot::verify
