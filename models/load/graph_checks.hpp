#pragma once

#include <torch/script.h>

#include <string>
#include <vector>

namespace hot::models {

/// Refuses what can't be trained on a CPU although it loads: quantized operations or tensors, and
/// code that always moves tensors to a CUDA device. Throws ModelError. Returns what is only worth
/// knowing, one sentence each: CUDA devices in branches, dropout and batch normalization whose mode
/// is fixed in the file. `graph` is inlined; `path` is for the messages.
[[nodiscard]] std::vector<std::string> check_graph(const std::string& path,
                                                   const torch::jit::Module& module,
                                                   torch::jit::Graph& graph);

}  // namespace hot::models
