#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "analyzers/cost/geometry.hpp"
#include "backward/operands.hpp"
#include "core/gemm_shape.hpp"
#include "core/scheme.hpp"
#include "device/clock.hpp"

namespace hot::cost {

/// Times one gradient of one layer by itself, with the functions that backward runs in the model
/// and normal values. Protocol on the CPU: one untimed run, which makes the library's kernels; then
/// kRuns, of short gradients more (until kPatience ms are spent, kMostRuns at most). Before each of
/// them other memory is written until no cache of a core holds the operands, as in a model, where
/// they were last touched a layer or a whole forward pass ago, and results get new pages. The
/// median counts. On a GPU: device::time_steadily(), by events.
class LayerClock {
 public:
  static constexpr int kRuns = 2;
  static constexpr int kMostRuns = 9;
  static constexpr double kPatience = 4;

  explicit LayerClock(const Geometry& geometry, at::Device device = at::kCPU);

  /// ms of the exact gradient by torch's own kernels.
  [[nodiscard]] double exact(Path path);
  /// ms of the gradient by the scheme, preparing x in forward included. Throws std::logic_error
  /// where the scheme didn't run.
  [[nodiscard]] double by_scheme(Path path, const Scheme& scheme);

 private:
  [[nodiscard]] double timed(const std::function<double()>& pass) const;
  [[nodiscard]] double milliseconds_of(const std::function<void()>& work) const;

  device::Clock& clock_;
  backward::Operands operands_;
};

}  // namespace hot::cost
