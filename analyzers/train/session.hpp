#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analyzers/train/options.hpp"
#include "backward/layer_schemes.hpp"
#include "core/training.hpp"
#include "models/inputs.hpp"
#include "models/model.hpp"
#include "models/step.hpp"

namespace hot::train {

/// The minibatches of a training: those that are trained on, and those that are held out.
struct Data {
  std::vector<models::Batch> training;
  std::vector<models::Batch> held_out;
};

/// Where training begins: the model's parameters, to be put back before every run and at the end.
class Start {
 public:
  explicit Start(const models::Model& model);
  ~Start() { restore(); }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;
  void restore() const;

 private:
  const models::Model& model_;
  std::vector<at::Tensor> values_;
};

/// What all runs of a training share.
struct Setting {
  const models::Model& model;
  const models::Loss& loss;
  const Data& data;
  const Options& options;
  /// Called before each step; may throw to end the run.
  std::function<void()> before_step;
};

/// One run of options.steps updates with `seed` from the parameters as they are, which it changes:
/// one copy of the module for all steps, so that running statistics go on; the default generator
/// seeded once (in Python: torch.manual_seed(seed)), the order of batches by batch_order().
/// `planned`: schemes by layer name, empty for exact training. `angles`, if given, gets the cosines
/// of the planned gradient to the exact one at the same weights, on the same minibatch, with the
/// same random numbers; their time isn't counted.
[[nodiscard]] TrainingCurve run(const Setting& setting,
                                const std::map<std::string, backward::LayerSchemes>& planned,
                                std::uint64_t seed, std::vector<TrainingAngle>* angles);

}  // namespace hot::train
