#include "models/load/graph_checks.hpp"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <optional>

#include "core/errors.hpp"
#include "models/jit.hpp"

namespace hot::models {
namespace {

using torch::jit::Node;

void refuse_quantized(const std::string& path, const torch::jit::Module& module,
                      torch::jit::Graph& graph) {
  std::string found;
  for_each_node(graph, [&](const Node* node) {
    if (found.empty() && std::string(node->kind().ns().toUnqualString()).starts_with("quantized")) {
      found = fmt::format("the operation {}", node->kind().toQualString());
    }
  });
  c10::IValue(module._ivalue()).visit([&](const c10::IValue& value) {
    if (found.empty() && value.isTensor() && value.toTensor().defined() &&
        value.toTensor().is_quantized()) {
      found = fmt::format("a tensor of type {}", c10::toString(value.toTensor().scalar_type()));
    }
    return false;
  });
  if (found.empty()) return;
  throw ModelError(
      fmt::format("{}: the model is already quantized to integers ({}), so its layers have no "
                  "gradients to analyse; "
                  "give the float model that it was made from",
                  path, found));
}

/// The CUDA device that a constant names, e.g. "cuda:0".
std::optional<std::string> cuda_device(const Node* node) {
  if (node->kind() != c10::prim::Constant || node->outputs().size() != 1) return std::nullopt;
  if (node->output()->type()->kind() != c10::TypeKind::DeviceObjType) return std::nullopt;
  const auto constant = torch::jit::toIValue(node->output());
  if (!constant || !constant->isDevice() || !constant->toDevice().is_cuda()) return std::nullopt;
  return constant->toDevice().str();
}

/// Whether a node runs in every call: it stands in no branch and no forked or optional body.
bool is_unconditional(const Node* node) {
  for (const Node* owner = node->owningBlock()->owningNode(); owner != nullptr;
       owner = owner->owningBlock()->owningNode()) {
    if (owner->kind() == c10::prim::If) return false;
  }
  return true;
}

std::optional<std::string> check_devices(const std::string& path, torch::jit::Graph& graph) {
  std::optional<std::string> note;
  for_each_node(graph, [&](const Node* node) {
    const auto device = cuda_device(node);
    if (!device) return;
    for (const auto& use : node->output()->uses()) {
      if (is_unconditional(use.user) && use.user->kind() != c10::prim::Return) {
        throw ModelError(
            fmt::format("{}: the code itself moves tensors to {} ({}), which no option changes; "
                        "export it on the CPU: "
                        "model.cpu() and inputs on the CPU, then trace or script again",
                        path, *device, use.user->kind().toQualString()));
      }
      note = fmt::format("A branch of the code uses {}; a run that takes it fails.", *device);
    }
  });
  return note;
}

/// Dropout and batch normalization whose `train` argument is a constant false: train() doesn't
/// reach them.
std::optional<std::string> check_modes(torch::jit::Graph& graph) {
  int fixed = 0;
  for_each_node(graph, [&](const Node* node) {
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (schema == nullptr || !node->kind().is_aten()) return;
    for (std::size_t i = 0; i < node->inputs().size() && i < schema->arguments().size(); ++i) {
      const std::string& name = schema->arguments()[i].name();
      if (name != "train" && name != "training") continue;
      const auto constant = torch::jit::toIValue(node->input(i));
      if (constant && constant->isBool() && !constant->toBool()) ++fixed;
    }
  });
  if (fixed == 0) return std::nullopt;
  return fmt::format(
      "The file fixes evaluation mode in {} place{} (dropout, batch normalization, recurrent "
      "layers): it was traced or frozen after eval().",
      fixed, fixed == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> check_graph(const std::string& path, const torch::jit::Module& module,
                                     torch::jit::Graph& graph) {
  refuse_quantized(path, module, graph);
  std::vector<std::string> notes;
  if (auto note = check_devices(path, graph)) notes.push_back(*note);
  if (auto note = check_modes(graph)) notes.push_back(*note);
  return notes;
}

}  // namespace hot::models
