#include "analyzers/profile/time_steps.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>

#include "analyzers/measure/totals.hpp"
#include "analyzers/profile/step_clock.hpp"

namespace hot::profile {
namespace {

constexpr double kLong = 30;             ///< seconds of a step
constexpr double kTrim = 0.2;            ///< of the ratios, at both ends: other programs' turns
constexpr double kNoticed = 0.005;       ///< share of a step that watching all of it may take
constexpr std::size_t kRoom = 512;       ///< rounds without another place in memory
constexpr std::size_t kLeastRounds = 4;  ///< of which each order has two

/// Mean of values whose order takes turns, free of what the order adds: the middle between the mean
/// of the even rounds and that of the odd ones; the 95 % interval is of what spreads within them.
/// `trim`: share of the values that is set aside at both ends (of each order; Yuen's interval).
struct Mean {
  double value = 0;
  std::optional<double> ci95;

  explicit Mean(const std::vector<double>& values, double trim = 0) {
    const bool turns = values.size() >= kLeastRounds;
    std::array<std::vector<double>, 2> orders;
    for (std::size_t i = 0; i < values.size(); ++i) orders[turns ? i % 2 : 0].push_back(values[i]);
    double variance = 0;
    std::int64_t freedom = 0;
    const double share = turns ? 0.5 : 1;
    for (auto& order : orders) {
      if (order.empty()) continue;
      const auto [mean, square, left] = trimmed(order, trim);
      value += share * mean;
      variance += share * share * square;
      freedom += left - 1;
    }
    if (freedom > 0) ci95 = measure::student_t(freedom) * std::sqrt(variance);
  }

 private:
  /// Mean without the ends, its squared standard error by the Winsorised values, and how many are
  /// left.
  static std::tuple<double, double, std::int64_t> trimmed(std::vector<double>& values,
                                                          double trim) {
    std::sort(values.begin(), values.end());
    const auto cut = static_cast<std::size_t>(trim * static_cast<double>(values.size()));
    for (std::size_t i = 0; i < cut; ++i) {
      values[i] = values[cut];
      values[values.size() - 1 - i] = values[values.size() - 1 - cut];
    }
    const auto n = static_cast<double>(values.size());
    const auto left = static_cast<std::int64_t>(values.size() - 2 * cut);
    double inner = 0;
    double all = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      all += values[i] / n;
      if (i >= cut && i < values.size() - cut) inner += values[i] / static_cast<double>(left);
    }
    if (left < 2) return {inner, 0, left};
    double squares = 0;
    for (const double v : values) squares += (v - all) * (v - all);
    const auto l = static_cast<double>(left);
    return {inner, squares / (l * (l - 1)), left};
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

  bool by_halves = false;  ///< forward and backward are watched in turns

  [[nodiscard]] bool repeats() const { return mean != nullptr; }
  /// Both halves by the second round, and each as often first as second by the fourth.
  [[nodiscard]] Half next_half() const {
    if (!by_halves) return Half::both;
    const std::size_t round = watched.size();
    return (round % 2 == 1) == (round / 2 % 2 == 1) ? Half::forward : Half::backward;
  }
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
        const InputShares& shares, double step_seconds)
      : setting_(setting),
        trace_(trace),
        optimizer_(optimizer),
        shares_(shares),
        step_seconds_(step_seconds) {}

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
    kind.ticks = mean->room();
    kind.by_halves = mean->cost() > kNoticed * step_seconds_;
    kind.mean = std::move(mean);
    kind.watched.reserve(kRoom);
    kind.plain.reserve(kRoom);
  }

  /// False where the step ran other operations than the logged one; from then on each is logged.
  [[nodiscard]] bool watched(Kind& kind) {
    TimedStep step;
    if (kind.repeats()) {
      const auto replacement = put_in_place(kind.replaced);
      const Half half = kind.next_half();
      std::optional<StepClock> clock;
      if (half != Half::backward) clock.emplace(*kind.ticks);
      step = run(
          [&] {
            if (half == Half::both) return;
            clock.reset();
            if (half == Half::backward) clock.emplace(*kind.ticks, kind.mean->range(half).first);
          },
          [&] { clock.reset(); });
      if (!kind.mean->add(*kind.ticks, half)) {
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
  double step_seconds_;  ///< about
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
  const Mean overhead(ratios(exact.watched, exact.plain), kTrim);
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
  m.set("repeats", static_cast<double>(plan.plain.empty() ? exact.plain.size() : plan.plain.size()),
        Origin::measured);
  m.set("watching_pairs", static_cast<double>(exact.watched.size()), Origin::measured);
}

/// Further exact rounds until what watching adds is known, or a limit is reached. False where a
/// round failed.
template <class Round>
bool time_watching(const Kind& exact, const TimeOptions& options, const Round& round) {
  const auto start = std::chrono::steady_clock::now();
  while (exact.repeats() && exact.plain.size() >= kLeastRounds &&
         exact.plain.size() < static_cast<std::size_t>(options.watching_repeats)) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    if (spent.count() > options.watching_seconds) break;
    const Mean cost(ratios(exact.watched, exact.plain), kTrim);
    if (cost.ci95 && *cost.ci95 < options.watching_interval) break;
    if (!round()) return false;
  }
  return true;
}

}  // namespace

TimeComparison time_steps(const verify::StepSetting& setting, const verify::Replaced& replaced,
                          const Trace& trace, Optimizer& optimizer, const Ceilings& ceilings,
                          const TimeOptions& options,
                          const std::function<void(std::string_view)>& next) {
  next("gradients one at a time");
  const InputShares shares = convolves(trace) ? measure_input_shares(setting) : InputShares{};
  Timer timer(setting, trace, optimizer, shares, options.step_seconds);
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
  const auto certain = [](const std::vector<double>& values, double interval) {
    const Mean mean(values);
    return *mean.ci95 < interval * mean.value;
  };
  const auto done = [&] {
    const std::size_t rounds = exact.plain.size();
    if (rounds >= static_cast<std::size_t>(options.repeats)) return true;
    if (rounds >= (long_steps ? 1 : 2) && spent() > options.seconds) return true;
    return rounds >= kLeastRounds && certain(exact.plain, options.interval) &&
           (plan.plain.empty() || certain(ratios(exact.plain, plan.plain), options.interval));
  };
  const auto pair = [&](Kind& kind, std::string_view what, bool watched_first) {
    next(what);
    if (watched_first && !timer.watched(kind)) return false;
    kind.plain.push_back(timer.plain(kind));
    return watched_first || timer.watched(kind);
  };
  // A step finds caches and heap as the one before left them: every other round goes backwards.
  const auto round = [&] {
    const bool back = exact.plain.size() % 2 == 1;
    if (back && !replaced.empty() && !pair(plan, "timing the plan", back)) return false;
    if (!pair(exact, "timing steps", back)) return false;
    return back || replaced.empty() || pair(plan, "timing the plan", back);
  };
  next("warming up");
  for (Kind* kind : kinds) {
    timer.learn(*kind, hook);
    if (!long_steps) static_cast<void>(timer.plain(*kind));
  }
  bool known = false;
  while (!known) {
    const bool whole = done();
    const bool same = whole ? time_watching(exact, options,
                                            [&] {
                                              return pair(exact, "timing what watching adds",
                                                          exact.plain.size() % 2 == 1);
                                            })
                            : round();
    known = whole && same;
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
