#include "models/load/constants.hpp"

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "models/jit.hpp"

namespace hot::models {
namespace {

using torch::jit::Node;
using torch::jit::Value;

/// The layer that an operation stands for, or nothing where a constant operand is no weight.
std::string layer_kind(const Node* node) {
  std::string name = node->kind().toUnqualString();
  if (name.find("loss") != std::string::npos || name.find("cross_entropy") != std::string::npos) {
    return "";
  }
  static const std::map<std::string, std::string, std::less<>> kinds = {
      {"addmm", "linear"}, {"mm", "matmul"}, {"bmm", "matmul"}, {"baddbmm", "matmul"}};
  if (const auto found = kinds.find(name); found != kinds.end()) return found->second;
  while (!name.empty() && name.front() == '_') name.erase(0, 1);
  return name;
}

/// The constants' role in an operation by its schema's argument name; nothing where it is no
/// weight.
std::string_view role_of(const std::string& kind, const std::string& argument) {
  if (argument == "weight" || argument == "bias") return argument == "bias" ? "bias" : "weight";
  if (kind == "linear") return argument == "mat2" ? "weight" : argument == "self" ? "bias" : "";
  if (kind == "matmul")
    return argument == "mat2" || argument == "other" || argument == "batch2" ? "weight" : "";
  if (kind == "lstm" || kind == "gru" || kind == "rnn_tanh" || kind == "rnn_relu") {
    return argument == "params" ? "weight" : "";
  }
  return "";
}

/// Looks through views that keep the storage, so that x @ w.t() finds w.
const Value* source_of(const Value* value) {
  static const std::set<std::string_view> views = {"t",         "transpose",  "permute", "numpy_T",
                                                   "detach",    "contiguous", "view",    "reshape",
                                                   "unsqueeze", "squeeze"};
  while (views.contains(value->node()->kind().toUnqualString()) &&
         value->node()->kind().is_aten() && !value->node()->inputs().empty()) {
    value = value->node()->input(0);
  }
  return value;
}

/// The constant tensors that reach an operand: one, or the members of a list.
std::vector<at::Tensor> constant_tensors(const Value* value) {
  value = source_of(value);
  std::vector<at::Tensor> tensors;
  if (value->node()->kind() == c10::prim::ListConstruct) {
    for (const Value* element : value->node()->inputs()) {
      for (const at::Tensor& tensor : constant_tensors(element)) tensors.push_back(tensor);
    }
    return tensors;
  }
  if (value->node()->kind() != c10::prim::Constant) return tensors;
  const auto constant = torch::jit::toIValue(value);
  if (!constant) return tensors;
  if (constant->isTensor()) tensors.push_back(constant->toTensor());
  if (constant->isTensorList()) tensors = constant->toTensorVector();
  return tensors;
}

std::string conv_kind(const std::string& kind, const Node* node) {
  // Traced convolutions don't say how many dimensions they have; their weight does.
  if (kind != "convolution" && kind != "convolution_mode") return kind;
  const std::vector<at::Tensor> weight = constant_tensors(node->input(1));
  return weight.empty() || !weight[0].defined() ? "conv"
                                                : fmt::format("conv{}d", weight[0].dim() - 2);
}

}  // namespace

std::vector<Parameter> trainable_constants(torch::jit::Graph& graph) {
  std::vector<Parameter> parameters;
  std::unordered_map<const at::TensorImpl*, std::size_t> known;
  std::map<std::string, int> count;
  for_each_node(graph, [&](Node* node) {
    const c10::FunctionSchema* schema = node->maybeSchema();
    if (schema == nullptr || !node->kind().is_aten()) return;
    const std::string kind = layer_kind(node);
    std::string place;
    for (std::size_t i = 0; i < node->inputs().size() && i < schema->arguments().size(); ++i) {
      const std::string_view role = role_of(kind, schema->arguments()[i].name());
      if (role.empty()) continue;
      if (place.empty()) {
        const std::string shown = conv_kind(kind, node);
        place = fmt::format("{}_{}", shown, count[shown]++);
      }
      const std::vector<at::Tensor> tensors = constant_tensors(node->input(i));
      for (std::size_t j = 0; j < tensors.size(); ++j) {
        if (!tensors[j].defined() || !tensors[j].is_floating_point() || tensors[j].dim() == 0)
          continue;
        const std::string name = tensors.size() == 1 ? fmt::format("{}.{}", place, role)
                                                     : fmt::format("{}.{}_{}", place, role, j);
        const auto [entry, added] =
            known.emplace(tensors[j].unsafeGetTensorImpl(), parameters.size());
        if (added) parameters.push_back({.names = {}, .tensor = tensors[j], .constant = true});
        parameters[entry->second].names.push_back(name);
      }
    }
  });
  const at::NoGradGuard no_grad;
  for (Parameter& parameter : parameters) {
    if (parameter.tensor.scalar_type() != at::kFloat)
      parameter.tensor.set_data(parameter.tensor.to(at::kFloat));
    parameter.tensor.requires_grad_(true);
  }
  return parameters;
}

}  // namespace hot::models
