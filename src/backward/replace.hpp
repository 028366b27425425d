#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "backward/layer_schemes.hpp"
#include "models/model.hpp"

namespace hot::backward {

/// While alive, the named layers run forward as ever and backward by their schemes, through
/// hot::kernels, in every step of this process: own autograd functions stand in for aten::mm,
/// addmm, convolution and _convolution on the device's Autograd key (torchscript.md 3.1); all other
/// calls go to torch's own kernels. Where grad_weight has a scheme, forward keeps the transformed,
/// quantized x in place of the float one (ABC, methods.md section 3), unless the operation that
/// made x keeps it anyway, or x is unfolded and transformed and would take no less than half of its
/// bytes. One at a time, and only before other copies of these operations are registered.
class Replacement {
 public:
  /// `check`: every product is compared on a few rows with the same integers multiplied in double.
  Replacement(const models::Model& model, const std::map<std::string, LayerSchemes>& layers,
              std::uint64_t seed, bool check = false);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  [[nodiscard]] std::map<std::string, LayerRuns> runs() const;

  /// While paused, layers run exactly; counters, and so the seeds of rounding, stand still.
  void pause(bool paused);

  /// Implementation detail, shared by the functions that stand in.
  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hot::backward
