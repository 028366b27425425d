#include "models/inputs/typed_users.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace hot::models {
namespace {

/// An operation's use of the value in question.
struct Use {
  const torch::jit::Node* node;
  std::size_t index;
  const GraphValues& values;

  [[nodiscard]] std::optional<at::Tensor> tensor(std::size_t i) const {
    return i < node->inputs().size() ? values.find_tensor(node->input(i)) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t i) const {
    return i < node->inputs().size() ? values.find_int(node->input(i)) : std::nullopt;
  }
  /// Tensors of a list input, e.g. the weights of an LSTM.
  [[nodiscard]] std::optional<at::Tensor> tensor_of_list(std::size_t i, std::size_t element) const {
    const auto list = i < node->inputs().size() ? values.find(node->input(i)) : std::nullopt;
    if (!list || !list->isList() || element >= list->toListRef().size()) return std::nullopt;
    const c10::IValue& item = list->toListRef()[element];
    return item.isTensor() ? std::optional(item.toTensor()) : std::nullopt;
  }
};

using Patterns = std::vector<Pattern>;

Pattern floats(Shape shape) {
  return tensor_spec("float32", std::move(shape));
}

Pattern integers(Shape shape, std::int64_t rows) {
  return tensor_spec("int64", std::move(shape), ValueRange{0, static_cast<double>(rows - 1)});
}

Patterns image(std::int64_t channels, std::int64_t spatial) {
  if (spatial < 1 || spatial > 3) return {};
  Shape shape = {kBatchSize, channels};
  shape.insert(shape.end(), static_cast<std::size_t>(spatial), kFreeSize);
  return {floats(std::move(shape))};
}

Patterns convolution(const Use& use, bool transposed, std::int64_t groups) {
  const auto weight = use.tensor(1);
  if (use.index != 0 || !weight || weight->dim() < 3) return {};
  return image(transposed ? weight->size(0) : weight->size(1) * groups, weight->dim() - 2);
}

Patterns conv(const Use& use) {
  return convolution(use, false, use.integer(6).value_or(1));
}
Patterns conv_transpose(const Use& use) {
  return convolution(use, true, 1);
}

/// aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
/// groups, …)
Patterns traced_convolution(const Use& use) {
  const auto transposed = use.values.find(use.node->input(6));
  return convolution(use, transposed && transposed->isBool() && transposed->toBool(),
                     use.integer(8).value_or(1));
}

/// aten::_convolution_mode(input, weight, bias, stride, padding, dilation, groups)
Patterns padded_convolution(const Use& use) {
  return convolution(use, false, use.integer(6).value_or(1));
}

Patterns embedding(const Use& use) {
  const auto weight = use.tensor(0);
  if (use.index != 1 || !weight || weight->dim() != 2) return {};
  return {integers({kBatchSize, kFreeSize}, weight->size(0)),
          integers({kBatchSize}, weight->size(0))};
}

/// aten::embedding_bag(weight, indices, offsets, …): offsets start at 0 and never fall; without
/// them torch's own wrapper takes a row for each bag.
Patterns embedding_bag(const Use& use) {
  const auto weight = use.tensor(0);
  if (!weight || weight->dim() != 2) return {};
  if (use.index == 1) {
    return {integers({kFreeSize}, weight->size(0)),
            integers({kBatchSize, kFreeSize}, weight->size(0))};
  }
  if (use.index == 2) return {integers({kBatchSize}, 1)};
  return {};
}

Patterns rows_of(std::int64_t features) {
  return {floats({kBatchSize, features}), floats({kBatchSize, kFreeSize, features}),
          floats({kBatchSize, kFreeSize, kFreeSize, features})};
}

Patterns linear(const Use& use) {
  const auto weight = use.tensor(1);
  if (use.index != 0 || !weight || weight->dim() != 2) return {};
  return rows_of(weight->size(1));
}

Patterns product(const Use& use) {
  const auto weight = use.tensor(1);
  if (use.index != 0 || !weight || weight->dim() != 2) return {};
  return rows_of(weight->size(0));
}

/// A weight [G, K, N] beside it at `at`: the input is [G, rows, K].
Patterns grouped_product(const Use& use, std::size_t input, std::size_t at) {
  const auto weight = use.tensor(at);
  if (use.index != input || !weight || weight->dim() != 3) return {};
  return {floats({weight->size(0), kFreeSize, weight->size(1)})};
}

Patterns bmm(const Use& use) {
  return grouped_product(use, 0, 1);
}
Patterns baddbmm(const Use& use) {
  return grouped_product(use, 1, 2);
}

/// aten::addmm(bias, input, weight)
Patterns addmm(const Use& use) {
  const auto weight = use.tensor(2);
  if (use.index != 1 || !weight || weight->dim() != 2) return {};
  return {floats({kBatchSize, weight->size(0)})};
}

/// aten::lstm|gru|rnn_*(input, state, weights, has_biases, layers, dropout, train, bidirectional,
/// batch_first)
Patterns recurrent(const Use& use) {
  const auto weight = use.tensor_of_list(2, 0);
  if (use.index != 0 || !weight || weight->dim() != 2) return {};
  const auto batch_first = use.values.find(use.node->input(8));
  if (batch_first && batch_first->isBool() && batch_first->toBool()) {
    return {floats({kBatchSize, kFreeSize, weight->size(1)})};
  }
  return {floats({kFreeSize, kBatchSize, weight->size(1)})};
}

/// aten::lstm_cell|gru_cell|rnn_*_cell(input, state, w_ih, w_hh, …)
Patterns cell(const Use& use) {
  const auto weight = use.tensor(2);
  if (use.index != 0 || !weight || weight->dim() != 2) return {};
  return {floats({kBatchSize, weight->size(1)})};
}

Patterns layer_norm(const Use& use) {
  const auto sizes = use.values.find_ints(use.node->input(1));
  if (use.index != 0 || !sizes || sizes->empty()) return {};
  Shape rows = {kBatchSize, kFreeSize};
  Shape whole = {kBatchSize};
  for (const std::int64_t size : *sizes) {
    if (size < 1) return {};
    rows.push_back(size);
    whole.push_back(size);
  }
  if (sizes->size() > 1) return {floats(std::move(whole)), floats(std::move(rows))};
  return {floats(std::move(rows)), floats(std::move(whole))};
}

Patterns channels(const Use& use, std::size_t weight_index) {
  const auto weight = use.tensor(weight_index);
  if (use.index != 0 || !weight || weight->dim() != 1) return {};
  const std::int64_t c = weight->size(0);
  return {floats({kBatchSize, c, kFreeSize, kFreeSize}), floats({kBatchSize, c, kFreeSize}),
          floats({kBatchSize, c})};
}

Patterns batch_norm(const Use& use) {
  return channels(use, 1);
}
Patterns group_norm(const Use& use) {
  return channels(use, 2);
}

Patterns target(const Use& use) {
  if (use.index != 1) return {};
  return {integers({kBatchSize}, 2)};
}

Patterns one_hot(const Use& use) {
  const auto classes = use.integer(1);
  if (use.index != 0 || !classes || *classes < 1) return {};
  return {integers({kBatchSize}, *classes), integers({kBatchSize, kFreeSize}, *classes)};
}

/// x + table: a table of the module, e.g. positions [1, T, D], has the sizes of the input; 1 means
/// any.
Patterns with_table(const Use& use) {
  const auto table = use.tensor(use.index == 0 ? 1 : 0);
  if (use.index > 1 || !table || table->dim() < 2) return {};
  Shape shape = table->sizes().vec();
  if (shape[0] != 1) shape.insert(shape.begin(), kBatchSize);
  shape[0] = kBatchSize;
  std::replace(shape.begin(), shape.end(), std::int64_t{1}, kFreeSize);
  return {floats(std::move(shape))};
}

/// a, b, c = x.shape tells the number of dimensions.
Patterns unpacked_sizes(const Use& use) {
  for (const auto& reader : use.node->output()->uses()) {
    if (reader.user->kind() != c10::prim::ListUnpack) continue;
    Shape shape(reader.user->outputs().size(), kFreeSize);
    if (shape.empty()) continue;
    shape[0] = kBatchSize;
    Shape image_shape = shape;
    if (shape.size() == 4) image_shape[1] = 3;
    return {floats(std::move(image_shape)), floats(std::move(shape))};
  }
  return {};
}

struct Row {
  int strength;
  Patterns (*read)(const Use&);
};

const std::unordered_map<std::string, Row>& table() {
  static const std::unordered_map<std::string, Row> rows = {
      {"aten::embedding", {9, embedding}},
      {"aten::embedding_bag", {9, embedding_bag}},
      {"aten::cross_entropy_loss", {9, target}},
      {"aten::nll_loss", {9, target}},
      {"aten::nll_loss_nd", {9, target}},
      {"aten::one_hot", {9, one_hot}},
      {"aten::conv1d", {8, conv}},
      {"aten::conv2d", {8, conv}},
      {"aten::conv3d", {8, conv}},
      {"aten::conv_transpose1d", {8, conv_transpose}},
      {"aten::conv_transpose2d", {8, conv_transpose}},
      {"aten::conv_transpose3d", {8, conv_transpose}},
      {"aten::_convolution", {8, traced_convolution}},
      {"aten::_convolution_mode", {8, padded_convolution}},
      {"aten::lstm", {7, recurrent}},
      {"aten::gru", {7, recurrent}},
      {"aten::rnn_tanh", {7, recurrent}},
      {"aten::rnn_relu", {7, recurrent}},
      {"aten::lstm_cell", {7, cell}},
      {"aten::gru_cell", {7, cell}},
      {"aten::rnn_tanh_cell", {7, cell}},
      {"aten::rnn_relu_cell", {7, cell}},
      {"aten::linear", {6, linear}},
      {"aten::matmul", {6, product}},
      {"aten::mm", {6, product}},
      {"aten::addmm", {6, addmm}},
      {"aten::bmm", {6, bmm}},
      {"aten::baddbmm", {6, baddbmm}},
      {"aten::layer_norm", {5, layer_norm}},
      {"aten::batch_norm", {4, batch_norm}},
      {"aten::group_norm", {4, group_norm}},
      {"aten::add", {3, with_table}},
      {"aten::add_", {3, with_table}},
      {"aten::sub", {3, with_table}},
      {"aten::mul", {3, with_table}},
      {"aten::size", {2, unpacked_sizes}},
  };
  return rows;
}

}  // namespace

Demand demand_of(const torch::jit::Node* node, std::size_t index, const GraphValues& values) {
  const auto row = table().find(node->kind().toQualString());
  if (row == table().end()) return {};
  return {row->second.strength, row->second.read(Use{node, index, values})};
}

}  // namespace hot::models
