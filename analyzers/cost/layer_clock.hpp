#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>

#include "analyzers/cost/geometry.hpp"
#include "core/gemm_shape.hpp"
#include "core/scheme.hpp"
#include "device/clock.hpp"

namespace hot::cost {

/// Times one gradient of one layer by itself, with the functions that stand in for the layer in a
/// running model and normal values. Protocol on the CPU: one untimed run, then `kRuns` in turn, of
/// short gradients more (10 ms in all, 30 runs at most); the least counts, since whatever else the
/// machine does only adds. On a GPU: device::time_steadily(), by events.
class LayerClock {
 public:
  static constexpr int kRuns = 3;

  explicit LayerClock(const Geometry& geometry, at::Device device = at::kCPU);

  /// ms of the exact gradient by torch.
  [[nodiscard]] double exact(Path path);
  /// ms of the gradient by the scheme, preparing x in forward included. Throws std::logic_error
  /// where the scheme didn't run.
  [[nodiscard]] double by_scheme(Path path, const Scheme& scheme);

 private:
  [[nodiscard]] at::Tensor exact_output(const at::Tensor& x, const at::Tensor& weight) const;

  [[nodiscard]] double timed(const std::function<double()>& pass) const;
  [[nodiscard]] double milliseconds_of(const std::function<void()>& work) const;

  Geometry geometry_;
  device::Clock& clock_;
  at::Tensor x_, weight_, gy_;
};

}  // namespace hot::cost
