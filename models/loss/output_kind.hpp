#pragma once

#include <torch/script.h>

#include <string>
#include <vector>

#include "models/inputs.hpp"
#include "models/loss/cross_entropy.hpp"
#include "models/model.hpp"

namespace hot::models {

/// How labels go with the outputs: as classes of `logits`, or, where that is empty, as the target
/// of output `squared`.
struct LabelFit {
  std::vector<Logits> logits;
  std::size_t squared = 0;
};

/// Integer labels are the classes of every output [N,C,d…] or [N,d…,C] where they are [N,d…];
/// floating ones, or `kind` "mse", the target of the first output of their shape. Throws ModelError
/// where nothing fits.
[[nodiscard]] LabelFit fit_labels(const std::vector<at::Tensor>& outputs, const at::Tensor& labels,
                                  const std::string& kind);

/// The outputs' logits where there are no labels; empty where they are taken for something else.
/// `kind` auto asks that every output look like logits: [N,C≥2] with N the batch (no unit vectors),
/// [N,T,V] of a language model with V the rows of the embedding that its tokens meet, or what the
/// archive's task says. `kind` cross-entropy takes every output of two or more dimensions and
/// throws ModelError where there is none.
[[nodiscard]] std::vector<Logits> find_logits(const Model& model,
                                              const std::vector<at::Tensor>& outputs,
                                              const Batch& batch, const std::string& kind);

}  // namespace hot::models
