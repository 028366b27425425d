#pragma once

#include <torch/script.h>

#include <functional>

namespace hot::models {

/// Switches off those parts of the JIT's optimizer that make layers vanish into differentiable
/// groups from the second run on (torchscript.md, section 1). One of the two switches belongs to
/// the calling thread, so every thread that runs a model calls this first; load_model() has done so
/// for its own.
void quiet_jit();

/// Replaces the calls in `graph` by the bodies of the called functions, at every level, whatever
/// quiet_jit() did before.
void inline_all(torch::jit::Graph& graph);

/// Calls `visit` for each node of `graph`: nested blocks and the bodies of forked tasks too, in
/// program order.
void for_each_node(torch::jit::Graph& graph, const std::function<void(torch::jit::Node*)>& visit);

}  // namespace hot::models
