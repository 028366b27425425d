#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzers/profile/op_event.hpp"
#include "analyzers/profile/step_log.hpp"
#include "analyzers/verify/step_run.hpp"
#include "core/layer_trace.hpp"
#include "core/profile.hpp"

namespace hot::profile {

/// grad_input's share of the time of a convolution's backward, by layer: both gradients come from
/// one operation, so each was run alone on the same operands.
using InputShares = std::map<std::string, double>;

/// Runs one step in which every convolution's backward is repeated with one gradient at a time.
[[nodiscard]] InputShares measure_input_shares(const verify::StepSetting& setting);

/// One timed step.
struct TimedStep {
  double wall = 0;  ///< forward and backward, seconds
  double optimizer = 0;
};

/// Sorts the slices of one step into layers and what is outside. `log`: of a step with the same
/// sites. `runs`: of replaced layers, whose products our own kernels time.
[[nodiscard]] TimeProfile sort_parts(const std::vector<Slice>& slices, const StepLog& log,
                                     const Trace& trace, const InputShares& shares,
                                     const std::map<std::string, backward::LayerRuns>& runs);

/// Mean over steps of the same model.
[[nodiscard]] TimeProfile mean_of(const std::vector<TimeProfile>& steps);

}  // namespace hot::profile
