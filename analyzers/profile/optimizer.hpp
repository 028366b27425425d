#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/model.hpp"

namespace hot::profile {

/// One of torch's own optimizers, on copies of the model's parameters, so that the model stays as
/// it is: "sgd", "momentum" (SGD with momentum 0.9), "adam" or "adamw".
class Optimizer {
 public:
  /// Throws UsageError for another name.
  Optimizer(const std::string& kind, const models::Model& model);
  ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One real step with `gradients`, one per Model::parameters; undefined and sparse ones are left
  /// out. The gradients are let go.
  void step(std::vector<at::Tensor>& gradients);

  /// Bytes of the tensors that the optimizer keeps from step to step; 0 before the first.
  [[nodiscard]] std::int64_t state_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::profile
