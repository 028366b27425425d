#include "models/inputs/graph_values.hpp"

#include <torch/csrc/jit/ir/constants.h>

#include <string>

namespace hot::models {
namespace {

constexpr int kMaxDepth = 64;

}  // namespace

GraphValues::GraphValues(const torch::jit::Module& module, const torch::jit::Graph& graph)
    : self_(module._ivalue()), self_value_(graph.inputs().empty() ? nullptr : graph.inputs()[0]) {}

std::optional<c10::IValue> GraphValues::find(const torch::jit::Value* value) const {
  return find(value, 0);
}

std::optional<c10::IValue> GraphValues::find(const torch::jit::Value* value, int depth) const {
  if (depth > kMaxDepth) return std::nullopt;
  if (value == self_value_) return self_;
  if (const auto link = outer_.find(value); link != outer_.end())
    return find(link->second, depth + 1);
  const torch::jit::Node* node = value->node();
  const auto input = [&](std::size_t i) { return find(node->input(i), depth + 1); };
  switch (node->kind()) {
    case c10::prim::Constant:
      return torch::jit::toIValue(value);
    case c10::prim::GetAttr: {
      const auto object = input(0);
      if (!object || !object->isObject()) return std::nullopt;
      return object->toObjectRef().getAttr(node->s(c10::attr::name));
    }
    case c10::prim::ListConstruct: {
      c10::impl::GenericList list(c10::AnyType::get());
      for (const torch::jit::Value* element : node->inputs()) {
        auto found = find(element, depth + 1);
        // Sizes that only a run knows are kept as None: readers ask for the ones they need.
        list.push_back(found ? *found : c10::IValue());
      }
      return list;
    }
    case c10::prim::If: {
      // Of two branches the one whose value is known: the other's only a run knows.
      const std::size_t output = value->offset();
      auto found = find(node->blocks()[0]->outputs()[output], depth + 1);
      auto other = find(node->blocks()[1]->outputs()[output], depth + 1);
      if (found && other && !found->is(*other)) return std::nullopt;
      return found ? found : other;
    }
    case c10::aten::t: {
      const auto tensor = input(0);
      if (!tensor || !tensor->isTensor() || tensor->toTensor().dim() > 2) return std::nullopt;
      return tensor->toTensor().detach().t();
    }
    case c10::aten::transpose: {
      const auto tensor = input(0);
      const auto a = input(1);
      const auto b = input(2);
      if (!tensor || !tensor->isTensor() || !a || !a->isInt() || !b || !b->isInt())
        return std::nullopt;
      const at::Tensor& matrix = tensor->toTensor();
      const auto inside = [&](std::int64_t d) { return d < matrix.dim() && d >= -matrix.dim(); };
      if (!inside(a->toInt()) || !inside(b->toInt())) return std::nullopt;
      return matrix.detach().transpose(a->toInt(), b->toInt());
    }
    case c10::aten::to:
    case c10::aten::detach:
    case c10::aten::contiguous:
    case c10::aten::Int:
    case c10::prim::NumToTensor:
    case c10::prim::unchecked_cast:
    case c10::prim::unchecked_unwrap_optional:
      return input(0);
    default:
      return std::nullopt;
  }
}

std::optional<at::Tensor> GraphValues::find_tensor(const torch::jit::Value* value) const {
  const auto found = find(value);
  if (!found || !found->isTensor() || !found->toTensor().defined()) return std::nullopt;
  return found->toTensor();
}

std::optional<std::int64_t> GraphValues::find_int(const torch::jit::Value* value) const {
  const auto found = find(value);
  if (!found || !found->isInt()) return std::nullopt;
  return found->toInt();
}

std::optional<std::vector<std::int64_t>> GraphValues::find_ints(
    const torch::jit::Value* value) const {
  const auto found = find(value);
  if (!found || !found->isList()) return std::nullopt;
  std::vector<std::int64_t> ints;
  for (const c10::IValue& item : found->toListRef()) {
    if (!item.isInt() && !item.isNone()) return std::nullopt;
    ints.push_back(item.isInt() ? item.toInt() : -1);
  }
  return ints;
}

}  // namespace hot::models
