#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/metric.hpp"
#include "core/scheme.hpp"

namespace hot {

/// Why a scheme was picked for a path.
struct Why {
  std::string runner_up;   ///< scheme text, empty if there was none
  double margin = 0;       ///< runner-up's cost divided by the pick's, minus 1
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

  [[nodiscard]] const LayerPlan* find(const std::string& layer) const;
  [[nodiscard]] bool all_exact() const;
};

}  // namespace hot
