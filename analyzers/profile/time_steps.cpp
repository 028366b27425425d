#include "analyzers/profile/time_steps.hpp"

#include <chrono>
#include <cmath>

#include "analyzers/measure/totals.hpp"

namespace hot::profile {
namespace {

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

/// Times of the same kind of step in all rounds.
struct Kind {
  const verify::Replaced& replaced;
  std::vector<double> plain, watched;
  std::vector<TimeProfile> parts;
};

class Timer {
 public:
  Timer(const verify::StepSetting& setting, const Trace& trace, Optimizer& optimizer,
        const InputShares& shares)
      : setting_(setting), trace_(trace), optimizer_(optimizer), shares_(shares) {}

  [[nodiscard]] double plain(const verify::Replaced& replaced) {
    const auto replacement = put_in_place(replaced);
    return run().wall;
  }

  void watched(Kind& kind) {
    const auto replacement = put_in_place(kind.replaced);
    StepLog log(setting_.model, false);
    const TimedStep step =
        run([&] { log.set_phase(Phase::backward); }, [&] { log.set_phase(Phase::optimizer); });
    log.rethrow();
    TimeProfile parts = sort_parts(
        log, trace_, shares_,
        replacement ? replacement->runs() : std::map<std::string, backward::LayerRuns>{});
    parts.optimizer = step.optimizer;
    kind.watched.push_back(step.wall);
    kind.parts.push_back(std::move(parts));
  }

 private:
  [[nodiscard]] std::unique_ptr<backward::Replacement> put_in_place(
      const verify::Replaced& replaced) const {
    if (replaced.empty()) return nullptr;
    return std::make_unique<backward::Replacement>(setting_.model, replaced, setting_.seed);
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

/// Means over the rounds; what the parts leave of the plain step is "between".
TimeProfile parts_of(const Kind& kind) {
  TimeProfile parts = mean_of(kind.parts);
  parts.between = Mean(kind.plain).value - parts.layer_seconds() - parts.op_seconds();
  return parts;
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
                 const Ceilings& ceilings) {
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
  const InputShares shares = measure_input_shares(setting);
  Timer timer(setting, trace, optimizer, shares);
  const verify::Replaced nothing;
  Kind exact{nothing, {}, {}, {}};
  Kind plan{replaced, {}, {}, {}};
  const auto start = std::chrono::steady_clock::now();
  const auto spent = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto done = [&] {
    const auto rounds = static_cast<int>(exact.plain.size());
    if (rounds >= options.repeats) return true;
    if (rounds >= 2 && spent() > options.seconds) return true;
    const Mean mean(exact.plain);
    const Mean cost(ratios(exact.watched, exact.plain));
    return rounds >= 3 && *mean.ci95 < options.interval * mean.value &&
           *cost.ci95 < options.interval;
  };
  next("warming up");
  static_cast<void>(timer.plain(nothing));
  if (!replaced.empty()) static_cast<void>(timer.plain(replaced));
  while (!done()) {
    next("timing steps");
    exact.plain.push_back(timer.plain(nothing));
    next("timing parts");
    timer.watched(exact);
    if (replaced.empty()) continue;
    next("timing the plan");
    plan.plain.push_back(timer.plain(replaced));
    timer.watched(plan);
  }
  TimeComparison result;
  result.exact = parts_of(exact);
  if (!replaced.empty()) result.plan = parts_of(plan);
  set_metrics(result, exact, plan, ceilings);
  return result;
}

}  // namespace hot::profile
