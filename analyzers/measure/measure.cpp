#include "analyzers/measure/measure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

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

/// Mean tau over all gradients, and a sentence where it is too low to trust neighbours.
void judge_ranking(ErrorTable& table) {
  constexpr double kStable = 0.7;
  std::vector<double> all;
  std::vector<std::string> unstable;
  for (const LayerFacts& facts : table.facts) {
    for (const char* name : {"input_tau", "weight_tau"}) {
      const Metric* tau = facts.metrics.find(name);
      if (tau == nullptr) continue;
      all.push_back(tau->value);
      if (tau->value < kStable)
        unstable.push_back(fmt::format("{} ({:.2f})", facts.layer, tau->value));
    }
  }
  if (all.empty()) return;
  const double mean =
      std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  table.whole.set("ranking_tau", mean, Origin::measured);
  if (unstable.empty()) return;
  const std::size_t count = unstable.size();
  unstable.resize(std::min<std::size_t>(count, 4));
  table.notes.push_back(fmt::format(
      "In {} of {} gradients the minibatches rank the schemes so differently (Kendall's tau under "
      "{}) that a pick between neighbours can't be trusted; measure more --batches: {}{}.",
      count, all.size(), kStable, fmt::join(unstable, ", "),
      count > unstable.size() ? fmt::format(" and {} more", count - unstable.size()) : ""));
}

}  // namespace

ErrorTable measure(const models::Model& model, const models::Inputs& inputs,
                   const models::Loss& loss, const Trace& trace, const Options& options,
                   const Progress& progress, const FirstStep& first) {
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
  bool is_first = true;
  const backward::Observation observation(model, [&](const backward::Operands& operands) {
    if (is_first && first.operands) first.operands(operands);
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
      const models::StepResult step =
          models::run_step(model, batch, loss, options.seed, is_first ? first.between : nullptr);
      if (is_first && first.done) first.done(step);
      is_first = false;
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
  judge_ranking(table);
  return table;
}

}  // namespace hot::measure
