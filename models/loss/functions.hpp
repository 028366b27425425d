#pragma once

#include <torch/script.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "models/inputs.hpp"
#include "models/loss/cross_entropy.hpp"

namespace hot::models {

/// From the method's output and the minibatch to a scalar. All throw ModelError where an output
/// that the loss was chosen for has no gradient any more.
using LossFunction = std::function<at::Tensor(const c10::IValue&, const Batch&)>;

/// Sum over `logits` of the mean cross-entropy to the minibatch's labels.
[[nodiscard]] LossFunction labelled_cross_entropy(std::vector<Logits> logits);

/// The same to labels that SampledLabels draws. Not for several threads at once.
[[nodiscard]] LossFunction sampled_cross_entropy(std::vector<Logits> logits, std::uint64_t seed);

/// Mean squared error of output number `index` to the minibatch's labels.
[[nodiscard]] LossFunction squared_error(std::size_t index);

/// projection_loss() of every output with a gradient.
[[nodiscard]] LossFunction projection(std::uint64_t seed);

}  // namespace hot::models
