#pragma once

#include <optional>
#include <string>

#include "analyzers/profile/memory_profile.hpp"
#include "analyzers/profile/optimizer.hpp"
#include "analyzers/verify/step_run.hpp"
#include "core/layer_trace.hpp"

namespace hot::profile {

/// What watching one step in depth found.
struct ObservedStep {
  MemoryProfile memory;
  std::vector<SavedStorage> saved;  ///< between forward and backward
  std::vector<Slice> slices;
  std::vector<std::string> site_names;
  std::vector<MemoryCount> counts;  ///< live bytes after every event
};

/// Counts the steps of a verification (verify::CountedStep) and keeps their memory profiles, so
/// that no further step need run for them: that of the last exact step and of the last plan's.
/// There is no optimizer in these steps.
class MemoryWatch {
 public:
  verify::StepRun operator()(const verify::StepSetting& setting, const verify::Replaced& replaced,
                             bool check);
  /// Empty where no exact step ran.
  [[nodiscard]] std::optional<MemoryComparison> comparison(const models::Model& model,
                                                           const Trace& trace) const;

 private:
  std::optional<ObservedStep> exact_, plan_;
};

/// Runs one step, exact where `replaced` is empty, with the optimizer's step at its end, and
/// watches every operation and allocation. Its times are no measurement.
[[nodiscard]] ObservedStep observed_step(const verify::StepSetting& setting,
                                         const verify::Replaced& replaced, Optimizer& optimizer);

/// Memory of the exact step and, where `replaced` isn't empty, of the plan's. `exact_step` gets the
/// exact step's record if it is given.
[[nodiscard]] MemoryComparison compare_memory(const verify::StepSetting& setting,
                                              const verify::Replaced& replaced,
                                              const std::string& optimizer, const Trace& trace,
                                              ObservedStep* exact_step = nullptr);

/// Bytes of the parameters, and of the buffers, that live through the step.
[[nodiscard]] std::int64_t parameter_bytes(const models::Model& model);
[[nodiscard]] std::int64_t buffer_bytes(const models::Model& model);

/// The step's events for a trace file.
[[nodiscard]] StepTrace step_trace(const ObservedStep& step);

}  // namespace hot::profile
