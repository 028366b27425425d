#pragma once

#include <torch/script.h>

#include <optional>
#include <unordered_map>

namespace hot::models {

/// Finds what a value of an inlined method graph is before any run: constants, and the module's
/// attributes.
class GraphValues {
 public:
  /// `graph`'s first input is `module`.
  GraphValues(const torch::jit::Module& module, const torch::jit::Graph& graph);

  /// The value, where it is a constant, an attribute, or a list, tuple, transposition or cast of
  /// such; else nullopt.
  [[nodiscard]] std::optional<c10::IValue> find(const torch::jit::Value* value) const;
  /// The same for tensors and integers alone.
  [[nodiscard]] std::optional<at::Tensor> find_tensor(const torch::jit::Value* value) const;
  [[nodiscard]] std::optional<std::int64_t> find_int(const torch::jit::Value* value) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> find_ints(
      const torch::jit::Value* value) const;

  /// `inner`, an input of a forked task's graph, is `outer` of the graph that forks.
  void link(const torch::jit::Value* inner, const torch::jit::Value* outer) {
    outer_[inner] = outer;
  }

 private:
  [[nodiscard]] std::optional<c10::IValue> find(const torch::jit::Value* value, int depth) const;
  c10::IValue self_;
  const torch::jit::Value* self_value_;
  std::unordered_map<const torch::jit::Value*, const torch::jit::Value*> outer_;
};

}  // namespace hot::models
