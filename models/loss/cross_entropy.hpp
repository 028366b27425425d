#pragma once

#include <torch/script.h>

#include <cstdint>
#include <memory>
#include <string>

#include "models/inputs.hpp"

namespace hot::models {

/// Where an output keeps its classes, and in what form.
struct Logits {
  std::size_t output = 0;      ///< index among differentiable_outputs()
  std::int64_t dimension = 1;  ///< of the classes
  bool probabilities = false;  ///< values are probabilities already (rows sum to 1)
  [[nodiscard]] std::string describe() const;
};

/// Logits of `output` with the classes last: a view where strides allow it.
[[nodiscard]] at::Tensor classes_last(const at::Tensor& output, const Logits& logits);

/// Mean cross-entropy over all positions. `labels`: int64, the shape of `output` without the
/// classes; -100 is left out. Throws ModelError for labels that don't fit.
[[nodiscard]] at::Tensor cross_entropy(const at::Tensor& output, const Logits& logits,
                                       const at::Tensor& labels);

/// Labels drawn from the model's own prediction, once per minibatch (known by its first tensor) and
/// then kept, so that every step on it has the same loss.
class SampledLabels {
 public:
  explicit SampledLabels(std::uint64_t seed) : seed_(seed) {}
  [[nodiscard]] at::Tensor labels(const Batch& batch, const at::Tensor& output,
                                  const Logits& logits);

 private:
  struct Entry {
    at::Tensor key;  ///< kept, so that its address stays taken
    at::Tensor labels;
  };
  std::uint64_t seed_;
  std::vector<Entry> entries_;
};

}  // namespace hot::models
