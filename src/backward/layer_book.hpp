#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "models/model.hpp"

namespace hot::backward {

/// The names of a model's layers, and which layer a weight belongs to. Weights are recognised by
/// their storage, so that views (W.t(), slices of a fused projection) find their parameter too.
class LayerBook {
 public:
  explicit LayerBook(const models::Model& model);

  /// Index into Model::parameters, or -1 for anything that is no parameter.
  [[nodiscard]] int parameter_of(const at::Tensor& tensor) const;

  /// The layer's name: the parameter's without ".weight".
  [[nodiscard]] const std::string& layer_name(int parameter) const;

  /// True if the storage belongs to a parameter.
  [[nodiscard]] bool is_parameter_storage(const c10::StorageImpl* storage) const;

 private:
  struct Entry {
    int parameter;
    std::int64_t begin, end;  // elements of the storage that the parameter spans
  };
  std::unordered_map<const c10::StorageImpl*, std::vector<Entry>> by_storage_;
  std::vector<std::string> names_;
};

/// "encoder.layers.0.fc1.weight" → "encoder.layers.0.fc1"; other names stay.
[[nodiscard]] std::string layer_name_of_parameter(const std::string& parameter);

/// Names of the modules that the JIT interpreter is in on this thread, outermost first, the top one
/// left out; empty outside, and in forked tasks. Containers that have no forward of their own are
/// missing.
[[nodiscard]] std::vector<std::string> current_modules();

/// The dotted path of such a list of names below `root`, containers filled in where that is
/// unambiguous.
[[nodiscard]] std::string full_path(const torch::jit::Module& root,
                                    const std::vector<std::string>& parts);

}  // namespace hot::backward
