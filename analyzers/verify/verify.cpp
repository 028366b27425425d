#include "analyzers/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "analyzers/verify/gradients.hpp"
#include "analyzers/verify/judge.hpp"
#include "analyzers/verify/step_run.hpp"
#include "analyzers/verify/timings.hpp"
#include "backward/layer_book.hpp"
#include "core/interrupt.hpp"

namespace hot::verify {
namespace {

/// Timed pairs below which nothing is known of their spread.
constexpr int kLeastPairs = 2;

/// True where a format of the layer's is simulated.
bool simulates(const backward::LayerSchemes& schemes) {
  return is_simulated(schemes.grad_input) || is_simulated(schemes.grad_weight);
}

/// Every eligible layer with its backward replaced and left exact.
Replaced exactly_replaced(const Trace& trace) {
  Replaced layers;
  for (const auto& layer : trace.layers) {
    if (layer.eligible) layers[layer.name] = {};
  }
  return layers;
}

std::vector<std::string> eligible_layers(const Trace& trace) {
  std::vector<std::string> names;
  for (const LayerTrace& layer : trace.layers) {
    if (layer.eligible) names.push_back(layer.name);
  }
  return names;
}

/// The gradients of both runs, together and of each planned layer's weight.
struct Comparisons {
  GradientComparison whole;
  std::map<std::string, GradientComparison> by_layer;
};

Comparisons compare_all(const models::Model& model, const Replaced& layers,
                        const std::vector<at::Tensor>& exact, const std::vector<at::Tensor>& plan) {
  Comparisons result{compare(exact, plan), {}};
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const std::string layer = backward::layer_name_of_parameter(model.parameters[i].names.front());
    if (!layers.contains(layer) || result.by_layer.contains(layer)) continue;
    result.by_layer[layer] = compare({exact[i]}, {plan[i]});
  }
  return result;
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

/// One plan in the running model: a counted step, compared with the exact one, and the timed pairs.
struct Trial {
  Replaced replaced;
  StepRun counted;  ///< without its gradients
  Comparisons gradients;
  Timings timings;
};

/// The way through all steps of one verification.
class Verifier {
 public:
  Verifier(const models::Model& model, const StepSetting& setting, const Trace& trace,
           const Options& options, const Progress& progress, const CountedStep& counted)
      : model_(model),
        setting_(setting),
        trace_(trace),
        options_(options),
        progress_(progress),
        counted_(counted),
        steps_(3 + 2 * options.repeats + (options.repair ? 3 : 0)) {}

  Verification operator()(Plan& plan) {
    next("exact step");
    exact_ = counted_(setting_, {}, false);
    check_replacement();
    Trial trial = planned_step(plan);
    mend(plan, trial);
    exact_.step.gradients.clear();
    time_pairs(trial);
    result_.layers = judged_layers(plan, trial);
    if (!trial.replaced.empty()) set_totals(trial);
    judge_total(result_,
                trial.replaced.empty() || !options_.missed ? "" : options_.missed(result_.total));
    add_notes(result_);
    if (progress_) progress_("verify", steps_, steps_, "");
    return std::move(result_);
  }

 private:
  void next(std::string_view what) {
    throw_if_interrupted();
    if (progress_) progress_("verify", std::min(done_, steps_), steps_, what);
    ++done_;
  }

  void check_replacement() {
    const Replaced self = exactly_replaced(trace_);
    if (self.empty()) return;
    next("exact replacement");
    const StepRun own = counted_step(setting_, self, false);
    result_.total.set("self_check",
                      compare(exact_.step.gradients, own.step.gradients).relative_error,
                      Origin::measured);
  }

  Trial planned_step(const Plan& plan) {
    Trial trial{planned_layers(plan), {}, {}, {}};
    if (trial.replaced.empty()) return trial;
    next("planned step");
    trial.counted = counted_(setting_, trial.replaced, true);
    auto& gradients = trial.counted.step.gradients;
    trial.gradients = compare_all(model_, trial.replaced, exact_.step.gradients, gradients);
    gradients.clear();
    return trial;
  }

  /// The second of two steps finds caches and heap otherwise than the first: they take turns.
  void time_pair(Trial& trial) {
    const bool plan_first = trial.timings.pairs() % 2 == 1;
    StepRun exact, plan;
    const auto time_exact = [&] {
      next("timing exact");
      exact = timed_step(setting_, {});
    };
    if (!plan_first) time_exact();
    next("timing the plan");
    plan = timed_step(setting_, trial.replaced);
    if (plan_first) time_exact();
    trial.timings.add(exact, plan);
  }

  /// Starts over with another plan as long as the planned step, or the first timed pair, gives
  /// reason to and rounds are left.
  void mend(Plan& plan, Trial& trial) {
    if (!options_.repair) return;
    int round = 1;
    while (!trial.replaced.empty() && round < options_.rounds) {
      auto mended = ask(plan, trial);
      if (!mended) {
        time_pair(trial);
        mended = ask(plan, trial);
      }
      if (!mended) break;
      plan = *std::move(mended);
      trial = planned_step(plan);
      ++round;
    }
    result_.total.set("rounds", round, Origin::measured);
  }

  std::optional<Plan> ask(const Plan& plan, const Trial& trial) {
    Metrics total;
    set_gradient(total, trial.gradients.whole);
    set_bytes(total, "saved_bytes", exact_.saved_bytes, trial.counted.saved_bytes);
    trial.timings.report_total({}, eligible_layers(trace_), total);
    return options_.repair(plan, judged_layers(plan, trial), total, result_.notes);
  }

  /// Pairs until the interval of the speed-up tells whether the plan is faster, or time is over.
  void time_pairs(Trial& trial) {
    if (trial.replaced.empty()) return;
    const auto start = std::chrono::steady_clock::now();
    while (trial.timings.pairs() < options_.repeats) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      const bool enough = trial.timings.pairs() >= kLeastPairs;
      if (enough &&
          (spent.count() > options_.seconds || (options_.until_decided && trial.timings.decided())))
        break;
      time_pair(trial);
    }
  }

  [[nodiscard]] std::vector<LayerVerification> judged_layers(const Plan& plan,
                                                             const Trial& trial) const {
    std::vector<LayerVerification> layers;
    for (const auto& layer_plan : plan.layers) layers.push_back(judged(layer_plan, trial));
    return layers;
  }

  [[nodiscard]] LayerVerification judged(const LayerPlan& layer_plan, const Trial& trial) const {
    LayerVerification layer;
    layer.name = layer_plan.name;
    GradientComparison gradient;
    const backward::LayerRuns* runs = nullptr;
    if (trial.replaced.contains(layer.name)) {
      if (!simulates(trial.replaced.at(layer.name))) {
        trial.timings.report_layer(layer.name, layer.metrics);
        set_bytes(layer.metrics, "saved_bytes", bytes_of(exact_, layer.name),
                  bytes_of(trial.counted, layer.name));
      }
      if (const auto compared = trial.gradients.by_layer.find(layer.name);
          compared != trial.gradients.by_layer.end())
        gradient = compared->second;
      set_gradient(layer.metrics, gradient);
      const auto found = trial.counted.runs.find(layer.name);
      if (found != trial.counted.runs.end()) {
        runs = &found->second;
        layer.metrics.set("kernel_deviation", runs->kernel_deviation, Origin::measured);
      }
    }
    const auto traced = std::find_if(trace_.layers.begin(), trace_.layers.end(),
                                     [&](const auto& l) { return l.name == layer.name; });
    if (traced != trace_.layers.end()) judge_layer(layer, *traced, layer_plan, runs, gradient);
    return layer;
  }

  void set_totals(const Trial& trial) {
    set_gradient(result_.total, trial.gradients.whole);
    std::vector<std::string> changed;
    for (const auto& [name, schemes] : trial.replaced) {
      if (simulates(schemes)) return;  // times and bytes are the simulation's
      changed.push_back(name);
    }
    trial.timings.report_total(changed, eligible_layers(trace_), result_.total);
    set_bytes(result_.total, "saved_bytes", exact_.saved_bytes, trial.counted.saved_bytes);
    set_bytes(result_.total, "peak_bytes", exact_.peak_bytes, trial.counted.peak_bytes);
  }

  const models::Model& model_;
  const StepSetting& setting_;
  const Trace& trace_;
  const Options& options_;
  const Progress& progress_;
  const CountedStep& counted_;
  std::int64_t steps_;
  std::int64_t done_ = 0;
  StepRun exact_;
  Verification result_;
};

}  // namespace

Verification verify(const models::Model& model, const models::Inputs& inputs,
                    const models::Loss& loss, const Trace& trace, Plan& plan,
                    const Options& options, const Progress& progress, const CountedStep& counted) {
  const StepSetting setting{model, inputs.batches.front(), loss, options.seed};
  return Verifier(model, setting, trace, options, progress, counted)(plan);
}

}  // namespace hot::verify
