#include "analyzers/profile/profile.hpp"

#include <algorithm>
#include <map>

#include "analyzers/profile/memory_step.hpp"
#include "analyzers/profile/target.hpp"
#include "analyzers/profile/time_steps.hpp"
#include "core/interrupt.hpp"

namespace hot::profile {
namespace {

/// Bytes of the operations outside layers, which timed steps don't count.
void fill_bytes(const ObservedStep& observed, TimeProfile& times) {
  std::map<std::string, std::int64_t> forward, backward;
  for (const Slice& slice : observed.slices) {
    if (slice.site >= 0) continue;
    (slice.phase == Phase::forward ? forward : backward)[slice.name] += slice.bytes;
  }
  for (OpTimes& op : times.forward_ops) op.bytes = forward[op.name];
  for (OpTimes& op : times.backward_ops) op.bytes = backward[op.name];
}

constexpr double kLeastRounds = 2;

/// Batches that tell a budget's answer where none were named.
std::vector<std::int64_t> batches_of(const Options& options, std::int64_t own) {
  std::vector<std::int64_t> batches = options.batch_sizes;
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  if (options.budget_bytes == 0 || batches.size() > 1) return batches;
  const std::int64_t base = batches.empty() ? std::max<std::int64_t>(2, own) : batches.front();
  return {base, 2 * base};
}

/// Rounds of `kinds` pairs of steps that there is time for.
int likely_rounds(const Options& options, double step_seconds, int kinds) {
  const double round = 2 * kinds * std::max(step_seconds, 1e-6);
  return static_cast<int>(std::clamp(options.seconds / round, kLeastRounds,
                                     std::max<double>(kLeastRounds, options.repeats)));
}

/// Says what comes, and stops where the user asked for it.
class Teller {
 public:
  Teller(const Progress& progress, std::int64_t steps) : progress_(progress), steps_(steps) {}
  void operator()(std::string_view what) {
    throw_if_interrupted();
    if (progress_) progress_("profile", std::min(done_++, steps_), steps_, what);
  }

 private:
  const Progress& progress_;
  std::int64_t steps_;
  std::int64_t done_ = 0;
};

std::int64_t needed(const MemoryComparison& memory) {
  return memory.parameter_bytes + memory.buffer_bytes + memory.optimizer_bytes +
         memory.exact.peak_bytes;
}

}  // namespace

void profile(const verify::StepSetting& setting, const Trace& trace, const Plan* plan,
             const BatchMaker& maker, const Options& options, const Progress& progress,
             Profile& result, StepTrace* step) {
  const verify::Replaced replaced =
      plan == nullptr ? verify::Replaced{} : verify::planned_layers(*plan);
  const auto batches = batches_of(options, batch_of(setting.batch));
  const int kinds = replaced.empty() ? 1 : 2;
  // Besides the rounds: memory, ceilings, gradients one at a time, warming up.
  Teller next(progress, 4 + kinds * likely_rounds(options, trace.step_seconds, kinds) +
                            static_cast<std::int64_t>(batches.size()));

  next("memory of a step");
  ObservedStep observed;
  result.memory = compare_memory(setting, replaced, options.optimizer, trace, &observed);
  if (step != nullptr) *step = step_trace(observed);

  next("ceilings of this machine");
  const Ceilings ceilings = measure_ceilings(setting.model.device);
  Optimizer optimizer(options.optimizer, setting.model);
  TimeOptions how;
  how.repeats = options.repeats;
  if (!options.more_watching) how.watching_repeats = 0;
  how.seconds = options.seconds;
  how.step_seconds = trace.step_seconds;
  result.time = time_steps(setting, replaced, trace, optimizer, ceilings, how,
                           [&](std::string_view what) { next(what); });
  fill_bytes(observed, result.time->exact);

  if (options.target) {
    const TargetRates here{
        "this machine", ceilings.float32_flops, 0, 0, ceilings.bytes_per_second, 0, "measured"};
    result.target =
        model_target(result.time->exact, plan, *options.target, here,
                     result.time->metrics.value("step_exact_ms"), needed(*result.memory));
  }
  if (batches.empty()) return;
  result.batches = sweep(setting.model, maker, setting.seed, batches, replaced, options.optimizer,
                         [&](std::string_view what) { next(what); });
  result.batches->budget_bytes = options.budget_bytes;
}

}  // namespace hot::profile
