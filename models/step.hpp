#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "models/model.hpp"

namespace hot::models {

/// The scalar that is differentiated. Chosen once per run (so that it is the same in every step),
/// from one trial forward: cross-entropy to the labels, or to labels sampled from the model's own
/// prediction (true Fisher), or a fixed random projection Σ out·R/√n where the outputs are no
/// logits; never the mean of the outputs.
class Loss {
 public:
  /// `kind`: auto | cross-entropy | mse | output. Throws UsageError or ModelError ("no output has a
  /// gradient" …).
  static Loss choose(const std::string& kind, const Model& model, const Batch& batch,
                     std::uint64_t seed);
  [[nodiscard]] at::Tensor operator()(const c10::IValue& output, const Batch& batch) const;
  [[nodiscard]] const std::string& description() const { return description_; }

 private:
  std::function<at::Tensor(const c10::IValue&, const Batch&)> function_;
  std::string description_;
};

/// What a step left behind.
struct StepResult {
  double loss = 0;
  std::vector<at::Tensor>
      gradients;                ///< one per Model::parameters, undefined where there is none; owned
  double forward_seconds = 0;   ///< measured by the model's device
  double backward_seconds = 0;  ///< likewise
};

/// Forward, loss and backward on `copy` (from fresh_copy()), for steps that follow each other:
/// neither seeds generators nor makes a copy, and leaves the gradients on the parameters, where
/// those before are dropped. Throws as run_step() does.
[[nodiscard]] StepResult step_on(const Model& model, torch::jit::Module& copy, const Batch& batch,
                                 const Loss& loss, const std::function<void()>& between = nullptr);

/// One training step without the optimizer: fresh copy, training mode, seeded generators, forward,
/// loss, backward. `between`, if given, runs after forward and before backward. Leaves no gradient
/// on the parameters. What torch warns of goes to the KeptWarnings around the call. Exceptions of
/// the model become ModelError with the model's own last line and the flag that may help.
[[nodiscard]] StepResult run_step(const Model& model, const Batch& batch, const Loss& loss,
                                  std::uint64_t seed,
                                  const std::function<void()>& between = nullptr);

/// The forward pass and the loss of run_step() alone, recorded by autograd as there; for watching
/// what layers receive. Returns the loss.
double run_forward(const Model& model, const Batch& batch, const Loss& loss, std::uint64_t seed);

}  // namespace hot::models
