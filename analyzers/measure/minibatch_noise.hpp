#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/error_table.hpp"
#include "models/model.hpp"

namespace hot::measure {

/// The gradient's own noise over minibatches, σ = √(Σ‖g_i − ḡ‖²/(B−1))/‖ḡ‖ (methods.md, section 4),
/// streamed: one sum of gradients and a norm a parameter are kept.
class MinibatchNoise {
 public:
  explicit MinibatchNoise(const models::Model& model) : model_(model) {}

  /// Gradients of one batch, one for each parameter of the model, undefined where there is none.
  void add(const std::vector<at::Tensor>& gradients);

  /// Sets minibatch_noise of the whole gradient, layer_noise of each layer's weight, and
  /// noise_ratio (relative error / σ) of each grad_weight row. Nothing with fewer than two batches.
  void write(ErrorTable& table) const;

 private:
  struct Sums {
    at::Tensor sum;
    double squares = 0;  ///< Σ‖g_i‖²
  };
  const models::Model& model_;
  std::vector<Sums> sums_;
  int batches_ = 0;
};

}  // namespace hot::measure
