#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/gpu.hpp"
#include "core/metric.hpp"
#include "core/scheme.hpp"

namespace hot {

/// Why a scheme was picked for a path.
struct Why {
  std::string runner_up;   ///< scheme text, empty if there was none
  double margin = 0;       ///< runner-up's cost (policy auto: the plan's) over the pick's, minus 1
  std::string constraint;  ///< what decided, as a phrase: "cheapest under relative error 0.1"
};

struct LayerPlan {
  std::string name;
  std::vector<std::int64_t> weight_shape;
  Scheme grad_input;
  Scheme grad_weight;
  Why why_grad_input;
  Why why_grad_weight;
};

/// One plan's predicted place between error, time and memory.
struct FrontPoint {
  /// "time": least time at most this error; "memory": least memory at most this error; "mark": a
  /// plan by name.
  std::string kind;
  std::string name;        ///< of a mark: "this plan", "exact", a policy
  double error = 0;        ///< predicted relative error of all parameter gradients together
  double ms = 0;           ///< predicted backward time of all eligible layers
  double saved_bytes = 0;  ///< predicted, kept for backward by the whole model
};

/// Ties a plan to the model that it was made for.
struct Fingerprint {
  std::string sha256;           ///< of the model file, hex
  std::int64_t parameters = 0;  ///< number of scalar parameters
};

struct Plan {
  std::string policy;
  Fingerprint model;
  std::vector<LayerPlan> layers;  ///< eligible layers alone, in the trace's order
  Metrics predicted;
  std::vector<FrontPoint> front{};   ///< with --pareto
  std::vector<std::string> notes{};  ///< one sentence each: the objective, the limits, the gap
  std::optional<GpuFacts> gpu{};     ///< that it was made for; nothing for a CPU

  [[nodiscard]] const LayerPlan* find(const std::string& layer) const;
  [[nodiscard]] bool all_exact() const;
};

}  // namespace hot
