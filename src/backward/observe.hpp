#pragma once

#include <functional>
#include <memory>

#include "backward/operands.hpp"
#include "models/model.hpp"

namespace hot::backward {

/// While alive, the backward pass of every call of every layer with a weight is shown to
/// `callback`, with its real operands, before the layer's own gradients are computed. Nothing is
/// replaced: gradients stay bit-identical. The callback runs without gradient recording and may
/// throw (the exception ends the step).
class Observation {
 public:
  Observation(const models::Model& model, std::function<void(const Operands&)> callback);
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  /// Call after the step: throws what the callback threw.
  void rethrow() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::backward
