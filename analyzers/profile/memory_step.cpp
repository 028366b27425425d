#include "analyzers/profile/memory_step.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

namespace hot::profile {
namespace {

std::vector<MemoryCount> counts_of(const MemoryLog& log) {
  std::vector<MemoryCount> counts;
  counts.reserve(log.events().size());
  std::int64_t live = 0;
  for (const MemoryEvent& event : log.events()) {
    live += event.bytes;
    counts.push_back({event.seconds, live});
  }
  return counts;
}

/// Bytes that eligible layers keep as their input for grad_weight, each storage once. What another
/// operation keeps in float anyway counts as theirs where they hold it too.
std::int64_t kept_by_eligible(const std::vector<SavedStorage>& saved, const Trace& trace) {
  std::set<std::string> eligible;
  for (const LayerTrace& layer : trace.layers) {
    if (layer.eligible) eligible.insert(layer.name);
  }
  std::int64_t bytes = 0;
  for (const SavedStorage& s : saved) {
    const bool kept = eligible.contains(s.owner) ||
                      std::any_of(s.more_owners.begin(), s.more_owners.end(),
                                  [&](const auto& owner) { return eligible.contains(owner); });
    if (kept) bytes += s.bytes;
  }
  return bytes;
}

std::string detail_of(const Slice& slice) {
  std::string text;
  for (const Path path : {Path::forward, Path::grad_input, Path::grad_weight}) {
    if ((slice.paths & (1U << static_cast<unsigned>(path))) == 0) continue;
    text += std::string(text.empty() ? "" : " + ") + to_string(path);
  }
  return text.empty() ? to_string(slice.phase) : text;
}

}  // namespace

namespace {

/// One watched step; `optimizer` may be nullptr. `run` gets its gradients (where there is no
/// optimizer to take them) and counts.
ObservedStep watched_step(const verify::StepSetting& setting, const verify::Replaced& replaced,
                          bool check, Optimizer* optimizer, verify::StepRun& run) {
  ObservedStep result;
  std::unique_ptr<backward::Replacement> replacement;
  if (!replaced.empty())
    replacement =
        std::make_unique<backward::Replacement>(setting.model, replaced, setting.seed, check);
  StepLog steps(setting.model, true);
  MemoryLog memory(steps, setting.model.device);
  std::vector<SavedStorage> saved;
  {
    backward::SavedBytes bytes(setting.model, &memory);
    run.step = models::run_step(setting.model, setting.batch, setting.loss, setting.seed, [&] {
      saved = memory.saved();
      run.saved_bytes = bytes.total();
      run.saved_by_layer = bytes.by_owner();
      steps.set_phase(Phase::backward);
    });
    steps.rethrow();
    memory.mark_gradients(run.step.gradients);
    steps.set_phase(Phase::optimizer);
    if (optimizer != nullptr) optimizer->step(run.step.gradients);
  }
  memory.stop();
  run.peak_bytes = memory.peak_bytes();
  if (replacement) run.runs = replacement->runs();
  result.memory = summarise(memory, saved);
  result.saved = std::move(saved);
  result.counts = counts_of(memory);
  result.slices = slices_of(steps.events());
  for (const backward::Site& site : steps.sites()) result.site_names.push_back(site.name);
  return result;
}

}  // namespace

verify::StepRun MemoryWatch::operator()(const verify::StepSetting& setting,
                                        const verify::Replaced& replaced, bool check) {
  verify::StepRun run;
  (replaced.empty() ? exact_ : plan_) = watched_step(setting, replaced, check, nullptr, run);
  return run;
}

std::optional<MemoryComparison> MemoryWatch::comparison(const models::Model& model,
                                                        const Trace& trace) const {
  if (!exact_) return std::nullopt;
  MemoryComparison result;
  result.parameter_bytes = parameter_bytes(model);
  result.buffer_bytes = buffer_bytes(model);
  result.optimizer = "none";
  result.exact = exact_->memory;
  result.eligible_kept_exact = kept_by_eligible(exact_->saved, trace);
  if (!plan_) return result;
  result.plan = plan_->memory;
  result.eligible_kept_plan = kept_by_eligible(plan_->saved, trace);
  result.explanation = explain_peaks(result.exact, *result.plan);
  return result;
}

ObservedStep observed_step(const verify::StepSetting& setting, const verify::Replaced& replaced,
                           Optimizer& optimizer) {
  verify::StepRun unused;
  return watched_step(setting, replaced, false, &optimizer, unused);
}

MemoryComparison compare_memory(const verify::StepSetting& setting,
                                const verify::Replaced& replaced, const std::string& optimizer,
                                const Trace& trace, ObservedStep* exact_step) {
  MemoryComparison result;
  result.parameter_bytes = parameter_bytes(setting.model);
  result.buffer_bytes = buffer_bytes(setting.model);
  result.optimizer = optimizer;
  Optimizer real(optimizer, setting.model);
  if (optimizer != "sgd") {
    // The states live from the second step on: a real first one makes them.
    auto first = models::run_step(setting.model, setting.batch, setting.loss, setting.seed);
    real.step(first.gradients);
  }
  result.optimizer_bytes = real.state_bytes();
  ObservedStep exact = observed_step(setting, {}, real);
  result.exact = exact.memory;
  result.eligible_kept_exact = kept_by_eligible(exact.saved, trace);
  if (exact_step != nullptr) *exact_step = std::move(exact);
  if (replaced.empty()) return result;
  const ObservedStep plan = observed_step(setting, replaced, real);
  result.plan = plan.memory;
  result.eligible_kept_plan = kept_by_eligible(plan.saved, trace);
  result.explanation = explain_peaks(result.exact, *result.plan);
  return result;
}

std::int64_t parameter_bytes(const models::Model& model) {
  std::int64_t sum = 0;
  std::set<const void*> seen;
  for (const models::Parameter& p : model.parameters) {
    if (seen.insert(p.tensor.storage().unsafeGetStorageImpl()).second)
      sum += static_cast<std::int64_t>(p.tensor.storage().nbytes());
  }
  return sum;
}

std::int64_t buffer_bytes(const models::Model& model) {
  std::int64_t sum = 0;
  for (const at::Tensor& buffer : model.module.buffers())
    sum += static_cast<std::int64_t>(buffer.nbytes());
  return sum;
}

StepTrace step_trace(const ObservedStep& step) {
  StepTrace trace;
  trace.memory = step.counts;
  trace.slices.reserve(step.slices.size());
  for (const Slice& slice : step.slices) {
    TraceSlice t;
    t.name = slice.name;
    const auto site = static_cast<std::size_t>(slice.site);
    t.layer =
        slice.site >= 0 && site < step.site_names.size() ? step.site_names[site] : slice.module;
    t.detail = detail_of(slice);
    t.begin = slice.begin;
    t.end = slice.end;
    t.thread = slice.thread;
    t.layer_slice = slice.site >= 0;
    trace.slices.push_back(std::move(t));
  }
  return trace;
}

}  // namespace hot::profile
