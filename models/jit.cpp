#include "models/jit.hpp"

#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace hot::models {
namespace {

void visit_block(torch::jit::Block* block, const std::function<void(torch::jit::Node*)>& visit) {
  for (torch::jit::Node* node : block->nodes()) {
    visit(node);
    for (torch::jit::Block* inner : node->blocks()) visit_block(inner, visit);
    if (node->hasAttribute(c10::attr::Subgraph)) {
      visit_block(node->g(c10::attr::Subgraph)->block(), visit);
    }
  }
}

}  // namespace

void quiet_jit() {
  torch::jit::getProfilingMode() = false;
  torch::jit::setGraphExecutorOptimize(false);
}

void inline_all(torch::jit::Graph& graph) {
  // With the optimizer off, Inline() goes one level deep only.
  const torch::jit::GraphOptimizerEnabledGuard optimizer_on(true);
  torch::jit::Inline(graph);
}

void for_each_node(torch::jit::Graph& graph, const std::function<void(torch::jit::Node*)>& visit) {
  visit_block(graph.block(), visit);
}

}  // namespace hot::models
