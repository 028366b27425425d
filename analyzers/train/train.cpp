#include "analyzers/train/train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzers/train/optimizer.hpp"
#include "analyzers/train/session.hpp"
#include "analyzers/train/summary.hpp"
#include "analyzers/verify/step_run.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace hot::train {
namespace {

verify::Replaced planned_layers(const Plan& plan) {
  verify::Replaced layers = verify::planned_layers(plan);
  if (layers.empty())
    throw UsageError("the plan leaves every layer exact: there is nothing to compare");
  return layers;
}

/// The last minibatches are held out.
Data split(const models::Inputs& inputs, double hold_out) {
  const auto all = std::ssize(inputs.batches);
  const auto held = static_cast<std::int64_t>(std::round(hold_out * static_cast<double>(all)));
  const auto trained = all - held;
  if (trained < 1)
    throw UsageError(
        fmt::format("--hold-out {:g} of {} minibatch{} leaves nothing to train on; give a smaller "
                    "share, a smaller --batch, or more data",
                    hold_out, all, all == 1 ? "" : "es"));
  return {{inputs.batches.begin(), inputs.batches.begin() + trained},
          {inputs.batches.begin() + trained, inputs.batches.end()}};
}

/// Bytes of one step, exact and planned: counting costs time, so it isn't done while training.
void count_bytes(const Setting& setting, const verify::Replaced& planned, Metrics& total) {
  const verify::StepSetting one{setting.model, setting.data.training.front(), setting.loss,
                                setting.options.seed};
  const verify::StepRun exact = verify::counted_step(one, {}, false);
  const verify::StepRun plan = verify::counted_step(one, planned, false);
  for (const auto& [name, of_exact, of_plan] :
       {std::tuple{"saved_bytes", exact.saved_bytes, plan.saved_bytes},
        std::tuple{"peak_bytes", exact.peak_bytes, plan.peak_bytes}}) {
    total.set(fmt::format("{}_exact", name), static_cast<double>(of_exact), Origin::measured);
    total.set(fmt::format("{}_plan", name), static_cast<double>(of_plan), Origin::measured);
  }
}

void note(const Setting& setting, Training& training) {
  if (setting.data.held_out.empty())
    training.notes.emplace_back("Nothing is held out: losses are of the training data alone.");
  if (!setting.data.training.front().labels.defined())
    training.notes.emplace_back(
        "Without labels the loss says how closely the plan follows exact training, not how well "
        "the model learns.");
  for (const TrainingPair& pair : training.pairs) {
    for (const auto& [name, curve] : {std::pair{"exact", &pair.exact}, {"planned", &pair.plan}}) {
      const auto bad = std::find_if_not(curve->losses.begin(), curve->losses.end(),
                                        [](double loss) { return std::isfinite(loss); });
      if (bad == curve->losses.end()) continue;
      training.notes.push_back(
          fmt::format("The {} run of seed {} has no finite loss from step {} on.", name, pair.seed,
                      bad - curve->losses.begin()));
    }
  }
}

}  // namespace

void train(const models::Model& model, const models::Inputs& inputs, const models::Loss& loss,
           const Plan& plan, const Options& options, const Progress& progress, Training& training) {
  const verify::Replaced planned = planned_layers(plan);
  const Data data = split(inputs, options.hold_out);
  training.steps = options.steps;
  training.training_batches = std::ssize(data.training);
  training.held_out_batches = std::ssize(data.held_out);
  training.optimizer = optimizer_text(options);

  const std::int64_t all = std::int64_t{2} * options.seeds * options.steps;
  std::int64_t done = 0;
  std::string what;
  const Setting setting{model, loss, data, options, [&] {
                          throw_if_interrupted();
                          if (progress) progress("train", done, all, what);
                          ++done;
                        }};
  count_bytes(setting, planned, training.total);
  const Start start(model);
  for (int i = 0; i < options.seeds; ++i) {
    TrainingPair pair;
    pair.seed = options.seed + static_cast<std::uint64_t>(i);
    // In turn, so that a machine that gets slower or faster favours neither.
    for (const bool by_plan : i % 2 == 0 ? std::array{false, true} : std::array{true, false}) {
      what = fmt::format("seed {}, {}", pair.seed, by_plan ? "planned" : "exact");
      start.restore();
      (by_plan ? pair.plan : pair.exact) = run(setting, by_plan ? planned : verify::Replaced{},
                                               pair.seed, by_plan ? &pair.angles : nullptr);
    }
    training.pairs.push_back(std::move(pair));
    summarize(training);
  }
  note(setting, training);
  if (progress) progress("train", all, all, "");
}

}  // namespace hot::train
