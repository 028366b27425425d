#include "analyzers/profile/time_steps.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "analyzers/measure/totals.hpp"
#include "analyzers/profile/step_clock.hpp"

namespace hot::profile {
namespace {

constexpr double kLong = 30;       ///< seconds of a step
constexpr std::size_t kRoom = 64;  ///< rounds without another place in memory

struct Mean {
  double value = 0;
  std::optional<double> ci95;

  explicit Mean(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    for (const double v : values) value += v / n;
    if (values.size() < 2) return;
    double variance = 0;
    for (const double v : values) variance += (v - value) * (v - value) / (n - 1);
    ci95 =
        measure::student_t(static_cast<std::int64_t>(values.size()) - 1) * std::sqrt(variance / n);
  }
};

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) result.push_back(a[i] / b[i]);
  return result;
}

using Runs = std::map<std::string, backward::LayerRuns>;

/// Times of the same kind of step in all rounds. What watched steps add to it takes no new memory
/// after the first, so that every round finds the heap as the one before.
struct Kind {
  explicit Kind(const verify::Replaced& r) : replaced(r) {}

  const verify::Replaced& replaced;
  std::vector<double> plain, watched;
  double optimizer = 0;          ///< sum
  std::unique_ptr<StepLog> log;  ///< of a step whose operations the timed ones repeat
  std::unique_ptr<MeanEvents> mean;
  std::unique_ptr<Ticks> ticks;
  Runs runs;                       ///< sums
  std::vector<TimeProfile> parts;  ///< where every step must be logged

  [[nodiscard]] bool repeats() const { return mean != nullptr; }
  /// Forgets the rounds so far.
  void clear() {
    plain.clear();
    watched.clear();
    optimizer = 0;
    runs.clear();
    parts.clear();
    if (mean) mean->clear();
  }
};

void add_runs(const Runs& from, Runs& to) {
  for (const auto& [layer, r] : from) {
    auto& sum = to[layer];
    sum.grad_input_seconds += r.grad_input_seconds;
    sum.grad_weight_seconds += r.grad_weight_seconds;
  }
}

Runs mean_runs(Runs sums, double steps) {
  for (auto& [layer, r] : sums) {
    r.grad_input_seconds /= steps;
    r.grad_weight_seconds /= steps;
  }
  return sums;
}

class Timer {
 public:
  Timer(const verify::StepSetting& setting, const Trace& trace, Optimizer& optimizer,
        const InputShares& shares)
      : setting_(setting), trace_(trace), optimizer_(optimizer), shares_(shares) {}

  [[nodiscard]] double plain(const Kind& kind) {
    const auto replacement = put_in_place(kind.replaced);
    return run().wall;
  }

  /// A logged step, untimed: what the timed ones are compared with.
  void learn(Kind& kind, HookCost cost) {
    log(kind, nullptr);
    // A StepClock reads the host's time; the log waits for the GPU.
    if (!setting_.model.device.is_cpu()) return;
    auto mean = std::make_unique<MeanEvents>(kind.log->events(), cost);
    if (!mean->can_add()) return;
    kind.ticks = std::make_unique<Ticks>(mean->size() + 1);
    kind.mean = std::move(mean);
    kind.watched.reserve(kRoom);
    kind.plain.reserve(kRoom);
  }

  /// False where the step ran other operations than the logged one; from then on each is logged.
  [[nodiscard]] bool watched(Kind& kind) {
    TimedStep step;
    if (kind.repeats()) {
      const auto replacement = put_in_place(kind.replaced);
      std::optional<StepClock> clock(std::in_place, *kind.ticks);
      step = run(nullptr, [&] { clock.reset(); });
      if (!kind.mean->add(*kind.ticks)) {
        kind.mean.reset();
        return false;
      }
      if (replacement) add_runs(replacement->runs(), kind.runs);
    } else {
      Runs runs;
      step = log(kind, &runs);
      kind.parts.push_back(
          sort_parts(slices_of(kind.log->events()), *kind.log, trace_, shares_, runs));
    }
    kind.watched.push_back(step.wall);
    kind.optimizer += step.optimizer;
    return true;
  }

  /// Means over the rounds; what the parts leave of the plain step is "between".
  [[nodiscard]] TimeProfile parts_of(const Kind& kind) const {
    const auto rounds = static_cast<double>(kind.watched.size());
    TimeProfile parts = kind.repeats() ? sort_parts(slices_of(kind.mean->events()), *kind.log,
                                                    trace_, shares_, mean_runs(kind.runs, rounds))
                                       : mean_of(kind.parts);
    parts.optimizer = kind.optimizer / rounds;
    parts.between = Mean(kind.plain).value - parts.layer_seconds() - parts.op_seconds();
    return parts;
  }

 private:
  [[nodiscard]] std::unique_ptr<backward::Replacement> put_in_place(
      const verify::Replaced& replaced) const {
    if (replaced.empty()) return nullptr;
    return std::make_unique<backward::Replacement>(setting_.model, replaced, setting_.seed);
  }

  TimedStep log(Kind& kind, Runs* runs) {
    const auto replacement = put_in_place(kind.replaced);
    kind.log.reset();
    kind.log = std::make_unique<StepLog>(setting_.model, false);
    const TimedStep step =
        run([&] { kind.log->set_phase(Phase::backward); }, [&] { kind.log->stop(); });
    kind.log->rethrow();
    if (runs != nullptr && replacement) *runs = replacement->runs();
    return step;
  }

  TimedStep run(const std::function<void()>& between = nullptr,
                const std::function<void()>& after = nullptr) {
    auto step =
        models::run_step(setting_.model, setting_.batch, setting_.loss, setting_.seed, between);
    TimedStep timed;
    timed.wall = step.forward_seconds + step.backward_seconds;
    if (after) after();
    device::Span span(device::clock_of(setting_.model.device));
    optimizer_.step(step.gradients);
    span.end();
    timed.optimizer = span.seconds();
    return timed;
  }

  const verify::StepSetting& setting_;
  const Trace& trace_;
  Optimizer& optimizer_;
  const InputShares& shares_;
};

bool convolves(const Trace& trace) {
  return std::any_of(trace.layers.begin(), trace.layers.end(), [](const LayerTrace& layer) {
    return layer.kind == LayerKind::conv || layer.kind == LayerKind::conv_transpose;
  });
}

double eligible_backward(const TimeProfile& parts) {
  double seconds = 0;
  for (const LayerTimes& layer : parts.layers) {
    if (layer.eligible) seconds += layer.seconds[1] + layer.seconds[2];
  }
  return seconds;
}

void set_mean(Metrics& metrics, std::string_view name, const std::vector<double>& values,
              double factor) {
  const Mean mean(values);
  metrics.set(name, mean.value * factor, Origin::measured,
              mean.ci95 ? std::optional(*mean.ci95 * factor) : std::nullopt);
}

void set_metrics(TimeComparison& result, const Kind& exact, const Kind& plan,
                 const Ceilings& ceilings, HookCost hook) {
  auto& m = result.metrics;
  const double whole = Mean(exact.plain).value;
  const double parts = result.exact.layer_seconds() + result.exact.op_seconds();
  set_mean(m, "step_exact_ms", exact.plain, 1e3);
  if (!plan.plain.empty()) {
    set_mean(m, "step_plan_ms", plan.plain, 1e3);
    set_mean(m, "step_speedup", ratios(exact.plain, plan.plain), 1);
  }
  m.set("optimizer_ms", result.exact.optimizer * 1e3, Origin::measured);
  m.set("parts_share", parts / whole, Origin::measured);
  const Mean overhead(ratios(exact.watched, exact.plain));
  m.set("watching_cost", overhead.value - 1, Origin::measured, overhead.ci95);
  m.set("hook_us", hook.whole * 1e6, Origin::measured);
  const double eligible = eligible_backward(result.exact);
  m.set("eligible_share", eligible / whole, Origin::measured);
  m.set("amdahl_limit", whole / (whole - eligible), Origin::modelled);
  if (result.plan) {
    const double saved = eligible - eligible_backward(*result.plan);
    m.set("amdahl_plan", whole / (whole - saved), Origin::modelled);
  }
  m.set("gemm_flops_per_second", ceilings.float32_flops, Origin::measured);
  m.set("copy_bytes_per_second", ceilings.bytes_per_second, Origin::measured);
  m.set("repeats", static_cast<double>(exact.plain.size()), Origin::measured);
}

}  // namespace

TimeComparison time_steps(const verify::StepSetting& setting, const verify::Replaced& replaced,
                          const Trace& trace, Optimizer& optimizer, const Ceilings& ceilings,
                          const TimeOptions& options,
                          const std::function<void(std::string_view)>& next) {
  next("gradients one at a time");
  const InputShares shares = convolves(trace) ? measure_input_shares(setting) : InputShares{};
  Timer timer(setting, trace, optimizer, shares);
  const verify::Replaced nothing;
  Kind exact(nothing);
  Kind plan(replaced);
  std::vector<Kind*> kinds{&exact};
  if (!replaced.empty()) kinds.push_back(&plan);
  const HookCost hook = measure_hook();
  const bool long_steps = options.step_seconds > kLong;
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto done = [&] {
    const auto rounds = static_cast<int>(exact.plain.size());
    if (rounds >= options.repeats) return true;
    if (rounds >= (long_steps ? 1 : 2) && spent() > options.seconds) return true;
    if (rounds < 3) return false;
    const Mean mean(exact.plain);
    const Mean cost(ratios(exact.watched, exact.plain));
    return *mean.ci95 < options.interval * mean.value && *cost.ci95 < options.interval;
  };
  const auto round = [&](Kind& kind, std::string_view what) {
    next(what);
    // The first of two steps finds the caches otherwise than the second: they take turns.
    const bool watched_first = kind.plain.size() % 2 == 1;
    if (watched_first && !timer.watched(kind)) return false;
    kind.plain.push_back(timer.plain(kind));
    return watched_first || timer.watched(kind);
  };
  next("warming up");
  for (Kind* kind : kinds) {
    timer.learn(*kind, hook);
    if (!long_steps) static_cast<void>(timer.plain(*kind));
  }
  while (!done()) {
    const bool same =
        round(exact, "timing steps") && (replaced.empty() || round(plan, "timing the plan"));
    if (same) continue;
    for (Kind* kind : kinds) kind->clear();
  }
  TimeComparison result;
  if (!exact.repeats() || (!replaced.empty() && !plan.repeats())) {
    result.notes.emplace_back(
        "Steps run their operations on several threads or in another order each time: every "
        "watched "
        "step was logged in full, which takes longer and moves its tensors.");
  }
  result.exact = timer.parts_of(exact);
  if (!replaced.empty()) result.plan = timer.parts_of(plan);
  set_metrics(result, exact, plan, ceilings, hook);
  return result;
}

}  // namespace hot::profile
