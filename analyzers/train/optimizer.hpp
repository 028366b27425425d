#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "analyzers/train/options.hpp"

namespace hot::train {

/// Updates parameters from their gradients, operation by operation as torch.optim does in Python,
/// so that both take the same steps to the bit. (LibTorch's own AdamW rounds differently, and
/// rounding to few bits turns a last bit into another gradient within some steps.)
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Parameters without a gradient stay. Records no gradients itself.
  virtual void step() = 0;
};

/// SGD with momentum 0.9 or AdamW with betas 0.9 and 0.999, as options.optimizer says; `parameters`
/// are changed in place.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(std::vector<at::Tensor> parameters,
                                                        const Options& options);

/// The learning rate in use.
[[nodiscard]] double rate_of(const Options& options);

/// "AdamW, rate 0.0001, weight decay 0".
[[nodiscard]] std::string optimizer_text(const Options& options);

}  // namespace hot::train
