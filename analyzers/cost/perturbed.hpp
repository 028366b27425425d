#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/model.hpp"

namespace hot::cost {

/// Adds ±ε, white and drawn by a seed, to all trainable parameters while alive, and puts them back
/// bit by bit. ε is a thousandth of their root mean square: large beside float32 rounding, small
/// beside the curvature.
class Perturbed {
 public:
  Perturbed(const models::Model& model, std::uint64_t seed);
  ~Perturbed();
  Perturbed(const Perturbed&) = delete;
  Perturbed& operator=(const Perturbed&) = delete;

  [[nodiscard]] double size() const { return size_; }  ///< ε

 private:
  const models::Model& model_;
  std::vector<at::Tensor> saved_;
  double size_ = 0;
};

}  // namespace hot::cost
