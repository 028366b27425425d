#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "backward/operands.hpp"
#include "backward/replace.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// One planned layer at run time: its schemes, its counters, and the two products by scheme.
/// Thread-safe.
class ReplacedLayer {
 public:
  ReplacedLayer(LayerSchemes schemes, std::uint64_t seed, bool check)
      : schemes_(schemes), seed_(seed), check_(check) {}

  [[nodiscard]] const LayerSchemes& schemes() const { return schemes_; }

  /// True if forward should keep prepare_x() of this x instead of x.
  [[nodiscard]] bool compresses(const at::Tensor& x, const Window& window) const;

  /// x [L×I] as backward will need it; the time is counted.
  [[nodiscard]] kernels::Operand prepare_x(const at::Tensor& x_matrix);

  /// gx [L×I] of gy [L×O] and w [O×I] by the scheme.
  [[nodiscard]] at::Tensor grad_input(const at::Tensor& gy, const at::Tensor& w);

  /// gw [O×I] of gy [L×O] and the prepared x by the scheme.
  [[nodiscard]] at::Tensor grad_weight(const at::Tensor& gy, const kernels::Operand& x);

  /// A product that the scheme leaves exact ran through the stand-in.
  void count_exact(Path path);

  [[nodiscard]] LayerRuns runs() const;

 private:
  std::uint64_t next_seed(Path path);
  void note_deviation(double deviation);

  LayerSchemes schemes_;
  std::uint64_t seed_;
  bool check_;
  mutable std::mutex mutex_;
  LayerRuns runs_;
};

}  // namespace hot::backward
