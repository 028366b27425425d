#pragma once

#include <torch/custom_class.h>

#include <cstdint>
#include <memory>
#include <string>

#include "backward/replaced_layer.hpp"

namespace hot::ops {

/// A planned layer of a PyTorch program, torch.classes.hot.Layer in Python: its name and schemes,
/// the counters that its rounding draws from, and what ran.
class PlannedLayer : public torch::CustomClassHolder {
 public:
  /// Schemes in the grammar of methods.md. Throws UsageError naming the layer for a scheme that
  /// doesn't exist or can't run on its path.
  PlannedLayer(std::string name, const std::string& grad_input, const std::string& grad_weight,
               std::int64_t seed);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::shared_ptr<backward::ReplacedLayer>& layer() const { return layer_; }

  /// Backward products so far: {grad_input, grad_weight}.
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t> runs() const;

  /// Seconds that forward spent on x for backward, measured.
  [[nodiscard]] double forward_seconds() const { return layer_->runs().forward_seconds; }

 private:
  std::string name_;
  std::shared_ptr<backward::ReplacedLayer> layer_;
};

}  // namespace hot::ops
