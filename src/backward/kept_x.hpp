#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "backward/replaced_layer.hpp"

namespace hot::backward {

/// The layer of a stand-in function, carried by its autograd context.
struct LayerHolder : torch::CustomClassHolder {
  explicit LayerHolder(std::shared_ptr<ReplacedLayer> l) : layer(std::move(l)) {}
  std::shared_ptr<ReplacedLayer> layer;
};

/// What forward keeps of x for grad_weight in an autograd context's saved tensors: nothing, x
/// itself, or its prepared form, before or after unfolding. Written and read back here alone.
class KeptX {
 public:
  /// Chooses the form and appends its tensors to `saved`. `x` is the layer's input, `window` its
  /// sliding.
  static void keep(ReplacedLayer& layer, const at::Tensor& x, const Operands& o, bool needed,
                   torch::autograd::AutogradContext* ctx, torch::autograd::variable_list& saved);

  /// The float x, undefined if the prepared form was kept or none was needed. `at` is where keep()
  /// began to append.
  [[nodiscard]] static at::Tensor plain(torch::autograd::AutogradContext* ctx,
                                        const torch::autograd::variable_list& saved,
                                        std::size_t at);

  /// The operand of grad_weight: what was kept, or made from the plain x now.
  [[nodiscard]] static kernels::Operand operand(ReplacedLayer& layer, const Operands& o,
                                                torch::autograd::AutogradContext* ctx,
                                                const torch::autograd::variable_list& saved,
                                                std::size_t at);
};

}  // namespace hot::backward
