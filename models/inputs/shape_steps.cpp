#include "models/inputs/shape_steps.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace hot::models {
namespace {

std::optional<Shape> same(Shape shape) {
  return shape;
}

/// `dimension` as an index into `rank` dimensions, or nullopt.
std::optional<std::size_t> wrap(std::int64_t dimension, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (dimension < 0) dimension += signed_rank;
  if (dimension < 0 || dimension >= signed_rank) return std::nullopt;
  return static_cast<std::size_t>(dimension);
}

Undo transpose(const torch::jit::Node* node, const GraphValues& values) {
  const auto a = values.find_int(node->input(1));
  const auto b = values.find_int(node->input(2));
  if (!a || !b) return nullptr;
  return [a = *a, b = *b](Shape shape) -> std::optional<Shape> {
    const auto i = wrap(a, shape.size());
    const auto j = wrap(b, shape.size());
    if (!i || !j) return std::nullopt;
    std::swap(shape[*i], shape[*j]);
    return shape;
  };
}

Undo permute(const torch::jit::Node* node, const GraphValues& values) {
  const auto order = values.find_ints(node->input(1));
  if (!order) return nullptr;
  return [order = *order](Shape shape) -> std::optional<Shape> {
    if (order.size() != shape.size()) return std::nullopt;
    Shape before(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto from = wrap(order[i], shape.size());
      if (!from) return std::nullopt;
      before[*from] = shape[i];
    }
    return before;
  };
}

Undo unsqueeze(const torch::jit::Node* node, const GraphValues& values) {
  const auto dimension = values.find_int(node->input(1));
  if (!dimension) return nullptr;
  return [dimension = *dimension](Shape shape) -> std::optional<Shape> {
    const auto at = wrap(dimension, shape.size());
    if (!at) return std::nullopt;
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(*at));
    return shape;
  };
}

/// squeeze(d) and select(d, i) drop a dimension; the input has it, of size 1 or any.
Undo dropped(const torch::jit::Node* node, const GraphValues& values, std::int64_t size) {
  const auto dimension = node->inputs().size() > 1 ? values.find_int(node->input(1)) : std::nullopt;
  if (!dimension) return nullptr;
  return [dimension = *dimension, size](Shape shape) -> std::optional<Shape> {
    const auto at = wrap(dimension, shape.size() + 1);
    if (!at) return std::nullopt;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(*at), size);
    return shape;
  };
}

Undo squeeze(const torch::jit::Node* node, const GraphValues& values) {
  return dropped(node, values, 1);
}
Undo select(const torch::jit::Node* node, const GraphValues& values) {
  return dropped(node, values, kFreeSize);
}

/// view(-1, a, b): whatever had a·b elements a sample.
Undo view(const torch::jit::Node* node, const GraphValues& values) {
  const auto sizes = values.find_ints(node->input(1));
  if (!sizes || sizes->size() < 2) return same;
  std::int64_t features = 1;
  for (std::size_t i = 1; i < sizes->size(); ++i) {
    if ((*sizes)[i] < 1 || __builtin_mul_overflow(features, (*sizes)[i], &features)) return same;
  }
  return [features](const Shape&) -> std::optional<Shape> { return Shape{kBatchSize, features}; };
}

Undo keep(const torch::jit::Node*, const GraphValues&) {
  return same;
}

using Make = Undo (*)(const torch::jit::Node*, const GraphValues&);

const std::unordered_map<std::string, Make>& reshaping() {
  static const std::unordered_map<std::string, Make> table = {
      {"aten::transpose", transpose}, {"aten::swapaxes", transpose}, {"aten::permute", permute},
      {"aten::unsqueeze", unsqueeze}, {"aten::squeeze", squeeze},    {"aten::select", select},
      {"aten::view", view},           {"aten::reshape", view},       {"aten::flatten", keep},
  };
  return table;
}

/// Operations whose first input keeps its number of dimensions and its features.
const std::unordered_set<std::string>& keeping() {
  static const std::unordered_set<std::string> names = {
      "aten::dropout",
      "aten::dropout_",
      "aten::feature_dropout",
      "aten::contiguous",
      "aten::to",
      "aten::type_as",
      "aten::float",
      "aten::clone",
      "aten::detach",
      "aten::alias",
      "aten::relu",
      "aten::relu_",
      "aten::relu6",
      "aten::hardtanh",
      "aten::leaky_relu",
      "aten::elu",
      "aten::gelu",
      "aten::silu",
      "aten::silu_",
      "aten::sigmoid",
      "aten::tanh",
      "aten::neg",
      "aten::abs",
      "aten::exp",
      "aten::log",
      "aten::log1p",
      "aten::sqrt",
      "aten::square",
      "aten::pow",
      "aten::clamp",
      "aten::clamp_",
      "aten::clamp_min",
      "aten::softmax",
      "aten::log_softmax",
      "aten::pad",
      "aten::constant_pad_nd",
      "aten::reflection_pad1d",
      "aten::reflection_pad2d",
      "aten::replication_pad1d",
      "aten::replication_pad2d",
      "aten::max_pool1d",
      "aten::max_pool2d",
      "aten::max_pool3d",
      "aten::avg_pool1d",
      "aten::avg_pool2d",
      "aten::avg_pool3d",
      "aten::masked_fill",
      "aten::masked_fill_",
      "aten::slice",
      "aten::roll",
      "aten::flip",
      "aten::layer_norm",
      "aten::batch_norm",
      "aten::group_norm",
      "aten::instance_norm",
      "aten::upsample_nearest2d",
      "aten::upsample_bilinear2d",
      "prim::unchecked_cast",
      "prim::unchecked_unwrap_optional",
      "aten::_unwrap_optional",
  };
  return names;
}

/// Elementwise operations of two tensors.
const std::unordered_set<std::string>& elementwise() {
  static const std::unordered_set<std::string> names = {"aten::add",  "aten::add_", "aten::sub",
                                                        "aten::sub_", "aten::mul",  "aten::mul_",
                                                        "aten::div",  "aten::div_"};
  return names;
}

}  // namespace

Undo undo_of(const torch::jit::Node* node, std::size_t index, const GraphValues& values) {
  const std::string name = node->kind().toQualString();
  if (elementwise().contains(name)) return index < 2 ? Undo(same) : nullptr;
  if (index != 0) return nullptr;
  if (keeping().contains(name)) return same;
  const auto row = reshaping().find(name);
  return row == reshaping().end() ? Undo() : row->second(node, values);
}

}  // namespace hot::models
