#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/metric.hpp"

namespace hot {

/// One training run, exact or by a plan, from the model's own weights.
struct TrainingCurve {
  std::vector<double> losses;           ///< of each step's minibatch, before its update
  double step_seconds = 0;              ///< forward and backward pass, median over steps, measured
  std::optional<double> held_out_loss;  ///< after the last step, in evaluation mode
  std::optional<double> accuracy;       ///< percent of the held-out labels that the model predicts
};

/// How the plan's gradient of all parameters points at one step of the planned run.
struct TrainingAngle {
  std::int64_t step = 0;
  double cosine = 1;
};

/// Exact and planned training with one seed: same start, same batches in the same order.
struct TrainingPair {
  std::uint64_t seed = 0;  ///< of the order of batches, the model's generators, and rounding
  TrainingCurve exact;
  TrainingCurve plan;
  std::vector<TrainingAngle> angles;
};

/// What `hot-analyze train` found.
struct Training {
  std::int64_t steps = 0;
  std::int64_t training_batches = 0;
  std::int64_t held_out_batches = 0;
  std::string optimizer;  ///< e.g. "AdamW, rate 0.0001, weight decay 0.01"
  std::vector<TrainingPair> pairs;
  Metrics total;  ///< differences are plan minus exact, paired by seed
  std::vector<std::string> notes;
};

}  // namespace hot
