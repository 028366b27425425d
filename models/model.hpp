#pragma once

#include <torch/script.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/options.hpp"

namespace hot::models {

/// One trainable weight under all its names.
struct Parameter {
  /// First the name that reports use; further ones for tied or shared weights.
  std::vector<std::string> names;
  /// The module's own tensor, or a frozen model's constant; f32, on the model's device.
  at::Tensor tensor;
  /// A frozen model's constant, named by kind and place, e.g. "conv2d_3.weight".
  bool constant = false;
};

/// A loaded TorchScript model, ready to train on its device.
struct Model {
  std::string path;
  std::string sha256;
  torch::jit::Module module;
  std::string method = "forward";
  at::Device device = at::kCPU;
  /// De-duplicated by TensorImpl; those that don't require a gradient too.
  std::vector<Parameter> parameters;
  /// What was changed or assumed, one sentence each.
  std::vector<std::string> notes;
  [[nodiscard]] std::int64_t scalar_count() const;
};

/// Recognises, checks (zip records' CRC), loads on the
/// device, inlines, switches the JIT's optimizer
/// off (torchscript.md, section 1), makes half-precision parameters and buffers f32 and frozen
/// constants trainable. The file is only read. Throws ModelError (what it is, what to do) or
/// EnvironmentError.
[[nodiscard]] Model load_model(const LoadOptions& options);

/// A copy that shares the parameters and owns everything else (buffers, attributes), in training
/// mode, so that stateful modules and running statistics of `model` stay as they were.
[[nodiscard]] torch::jit::Module fresh_copy(const Model& model);

}  // namespace hot::models
