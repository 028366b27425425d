#include "analyzers/measure/measure.hpp"

#include <map>
#include <set>
#include <string>

#include "analyzers/measure/layer_meter.hpp"
#include "analyzers/measure/minibatch_noise.hpp"
#include "analyzers/measure/on_host.hpp"
#include "analyzers/measure/resolve.hpp"
#include "backward/observe.hpp"
#include "core/interrupt.hpp"

namespace hot::measure {
namespace {

/// One meter for each eligible layer, in the trace's order.
class Meters {
 public:
  Meters(const Trace& trace, const Options& options) {
    const std::vector<Scheme> schemes =
        options.schemes.empty() ? default_portfolio() : options.schemes;
    for (const LayerTrace& layer : trace.layers) {
      if (!layer.eligible) continue;
      by_name_.emplace(layer.name, meters_.size());
      meters_.emplace_back(layer.name, schemes, options);
      calls_ += layer.calls;
    }
  }

  /// nullptr for a layer that isn't eligible.
  LayerMeter* find(const std::string& layer) {
    const auto found = by_name_.find(layer);
    return found == by_name_.end() ? nullptr : &meters_[found->second];
  }
  void end_batch() {
    for (LayerMeter& meter : meters_) meter.end_batch();
  }
  [[nodiscard]] std::int64_t calls() const { return calls_; }
  [[nodiscard]] bool empty() const { return meters_.empty(); }
  void write(ErrorTable& table, const std::set<std::string>& skipped) const {
    for (const LayerMeter& meter : meters_)
      if (!skipped.contains(meter.layer())) meter.write(table);
  }

 private:
  std::vector<LayerMeter> meters_;
  std::map<std::string, std::size_t> by_name_;
  std::int64_t calls_ = 0;  ///< of the eligible layers, in one step
};

}  // namespace

ErrorTable measure(const models::Model& model, const models::Inputs& inputs,
                   const models::Loss& loss, const Trace& trace, const Options& options,
                   const Progress& progress) {
  ErrorTable table;
  Options with_samples = options;
  with_samples.samples = samples_of(inputs.batches.front());
  Meters meters(trace, with_samples);
  if (meters.empty()) {
    table.notes.emplace_back("No layer is eligible, so nothing was measured.");
    return table;
  }
  if (!model.device.is_cpu()) table.notes.emplace_back(kOnHost);
  std::set<std::string> skipped;  // for want of memory
  const std::int64_t total = meters.calls() * static_cast<std::int64_t>(inputs.batches.size());
  std::int64_t done = 0;
  const backward::Observation observation(model, [&](const backward::Operands& operands) {
    LayerMeter* meter = meters.find(operands.layer);
    if (meter == nullptr) return;
    throw_if_interrupted();
    if (progress) progress("measure", done, total, operands.layer);
    if (!skipped.contains(operands.layer) && !measured_on_host(operands, *meter, table.notes))
      skipped.insert(operands.layer);
    ++done;
  });
  MinibatchNoise noise(model);
  for (const models::Batch& batch : inputs.batches) {
    try {
      const models::StepResult step = models::run_step(model, batch, loss, options.seed);
      if (inputs.batches.size() > 1) noise.add(step.gradients);
    } catch (...) {
      observation.rethrow();  // the cause, where the step failed by it
      throw;
    }
    observation.rethrow();
    meters.end_batch();
  }
  if (progress) progress("measure", total, total, "");
  meters.write(table, skipped);
  noise.write(table);
  return table;
}

}  // namespace hot::measure
