#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backward/recorder.hpp"
#include "backward/replace.hpp"
#include "core/plan.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::verify {

/// One step as it is compared: gradients, time, and what it held.
struct StepRun {
  models::StepResult step;
  std::map<std::string, double>
      backward_seconds;  ///< by layer: its backward nodes, summed over calls
  std::map<std::string, backward::LayerRuns> runs;  ///< of replaced layers
  std::map<std::string, std::int64_t> saved_by_layer;
  std::int64_t saved_bytes = 0;
  std::int64_t peak_bytes = 0;
};

/// What every step of a verification shares.
struct StepSetting {
  const models::Model& model;
  const models::Batch& batch;
  const models::Loss& loss;
  std::uint64_t seed;
};

/// Schemes by layer name; empty: nothing is replaced.
using Replaced = std::map<std::string, backward::LayerSchemes>;

/// The layers that `plan` changes.
[[nodiscard]] Replaced planned_layers(const Plan& plan);

/// Runs one step with saved bytes and peak counted, `check` as in backward::Replacement. Its times
/// are no measurement: counting costs time.
using CountedStep =
    std::function<StepRun(const StepSetting& setting, const Replaced& replaced, bool check)>;
[[nodiscard]] StepRun counted_step(const StepSetting& setting, const Replaced& replaced,
                                   bool check);

/// Runs one step for its times alone; its gradients are dropped.
[[nodiscard]] StepRun timed_step(const StepSetting& setting, const Replaced& replaced);

/// Seconds of each layer's backward pass, with what its scheme adds to the forward pass.
[[nodiscard]] std::map<std::string, double> layer_seconds(const StepRun& run);

}  // namespace hot::verify
