#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/measure/options.hpp"
#include "analyzers/profile/options.hpp"
#include "analyzers/select/select.hpp"
#include "analyzers/train/options.hpp"
#include "analyzers/verify/options.hpp"
#include "core/progress.hpp"
#include "core/report.hpp"
#include "models/options.hpp"
#include "stage.hpp"

namespace hot {

/// What one run does: the options of every stage.
struct PipelineOptions {
  models::LoadOptions model;
  models::InputOptions inputs;
  std::string loss = "auto";
  std::uint64_t seed =
      0;  ///< of inputs, sampled labels, the model's generators and stochastic rounding
  std::string device = "cpu";  ///< auto | cpu | cuda | cuda:INDEX
  int threads = 0;             ///< of LibTorch's kernels; 0 = as LibTorch chooses
  measure::Options measure;
  select::Options select;
  verify::Options verify;
  profile::Options profile;
  bool profiles = false;         ///< profile in place of measure, select and verify
  bool ceilings = false;         ///< measure what this machine reaches at most, for a roofline
  bool memory_snapshot = false;  ///< profile on a GPU: torch's own snapshot of its allocator
  bool makes_plan = false;       ///< profile: measure and select come before
  Stage last = Stage::verify;
  std::optional<Plan>
      plan;  ///< verified in place of a plan of this run: measure and select are left out
  std::optional<train::Options> train;  ///< trains with `plan` instead of verifying it
};

/// Runs the stages in order and fills `report` as each ends, so that it holds what was found if a
/// later one throws. An interrupt is no exception: it returns with `report.interrupted` set.
void run_pipeline(const PipelineOptions& options, const Progress& progress, Report& report);

}  // namespace hot
