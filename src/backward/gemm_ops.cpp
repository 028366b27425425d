#include "backward/gemm_ops.hpp"

#include <ATen/ATen.h>
#include <c10/util/accumulate.h>

#include <unordered_map>

namespace hot::backward {
namespace {

using Arguments = c10::ArrayRef<const c10::IValue>;

constexpr std::string_view kFusedAttention = "aten::_scaled_dot_product_flash_attention_for_cpu";
constexpr std::string_view kFusedAttentionBackward =
    "aten::_scaled_dot_product_flash_attention_for_cpu_backward";

const std::vector<GemmOp>& table() {
  using enum Role;
  static const std::vector<GemmOp> ops = {
      {"aten::mm", product, LayerKind::linear, 0, 1},
      {"aten::addmm", product, LayerKind::linear, 1, 2, 0},
      {"aten::bmm", product, LayerKind::matmul, 0, 1},
      {"aten::baddbmm", product, LayerKind::matmul, 1, 2, 0},
      {"aten::mv", product, LayerKind::linear, 0, 1},
      {"aten::addmv", product, LayerKind::linear, 1, 2, 0},
      {"aten::convolution", product, LayerKind::conv, 0, 1, 2},
      {"aten::_convolution", product, LayerKind::conv, 0, 1, 2},
      {kFusedAttention, product, LayerKind::attention, 0, 1, 2},
      {"aten::mkldnn_rnn_layer", opaque, LayerKind::recurrent, 0, 1, 2},
      {"aten::_trilinear", opaque, LayerKind::other, 0, 1, 2},
      {"aten::linear", composite, LayerKind::linear},
      {"aten::matmul", composite, LayerKind::matmul},
      {"aten::einsum", composite, LayerKind::matmul},
      {"aten::tensordot", composite, LayerKind::matmul},
      {"aten::inner", composite, LayerKind::matmul},
      {"aten::dot", composite, LayerKind::matmul},
      {"aten::chain_matmul", composite, LayerKind::matmul},
      {"aten::linalg_multi_dot", composite, LayerKind::matmul},
      {"aten::bilinear", composite, LayerKind::other},
      {"aten::conv1d", composite, LayerKind::conv},
      {"aten::conv2d", composite, LayerKind::conv},
      {"aten::conv3d", composite, LayerKind::conv},
      {"aten::_convolution_mode", composite, LayerKind::conv},
      {"aten::conv_transpose1d", composite, LayerKind::conv_transpose},
      {"aten::conv_transpose2d", composite, LayerKind::conv_transpose},
      {"aten::conv_transpose3d", composite, LayerKind::conv_transpose},
      {"aten::scaled_dot_product_attention", composite, LayerKind::attention},
      {"aten::_native_multi_head_attention", composite, LayerKind::attention},
      {"aten::lstm", composite, LayerKind::recurrent},
      {"aten::gru", composite, LayerKind::recurrent},
      {"aten::rnn_tanh", composite, LayerKind::recurrent},
      {"aten::rnn_relu", composite, LayerKind::recurrent},
      {"aten::lstm_cell", composite, LayerKind::recurrent},
      {"aten::gru_cell", composite, LayerKind::recurrent},
  };
  return ops;
}

std::vector<std::int64_t> integers(const c10::IValue& value) {
  if (value.isIntList()) return value.toIntVector();
  std::vector<std::int64_t> result;
  for (const auto& v : value.toListRef()) {
    result.push_back(v.isInt() ? v.toInt() : v.toSymInt().expect_int());
  }
  return result;
}

GemmShape matrix_product(const at::Tensor& a, const at::Tensor& b) {
  if (b.dim() == 1) return {a.size(0), 1, a.size(1), 1};
  if (a.dim() == 3) return {a.size(1), b.size(2), a.size(2), a.size(0)};
  return {a.size(0), b.size(1), a.size(1), 1};
}

std::int64_t output_positions(const Window& w, at::IntArrayRef image) {
  return c10::multiply_integers(w.positions(image.slice(2)));
}

/// Products of one path of a convolution: rows × (kernel columns) × (channels of one group),
/// `groups` of them.
GemmShape convolution_shape(Path path, const Window& w, std::int64_t rows, at::IntArrayRef weight) {
  const std::int64_t fanned =
      weight[1] * c10::multiply_integers(weight.slice(2));  // the side that is unfolded
  const std::int64_t plain = weight[0] / w.groups;
  const bool swapped = w.transposed;
  switch (path) {
    case Path::forward:
      return swapped ? GemmShape{rows, fanned, plain, w.groups}
                     : GemmShape{rows, plain, fanned, w.groups};
    case Path::grad_input:
      return swapped ? GemmShape{rows, plain, fanned, w.groups}
                     : GemmShape{rows, fanned, plain, w.groups};
    case Path::grad_weight:
      break;
  }
  return swapped ? GemmShape{fanned, plain, rows, w.groups}
                 : GemmShape{plain, fanned, rows, w.groups};
}

std::vector<GemmShape> attention_shapes(const at::Tensor& q, const at::Tensor& k,
                                        const at::Tensor& v) {
  const std::int64_t batch = q.size(0) * q.size(1);
  return {{q.size(2), k.size(2), q.size(3), batch}, {q.size(2), v.size(3), k.size(2), batch}};
}

std::vector<BackwardGemm> convolution_backward_gemms(Arguments a) {
  const auto& gy = a[0].toTensor();
  const auto& x = a[1].toTensor();
  const auto& weight = a[2].toTensor();
  Window w;
  w.transposed = a[7].toBool();
  w.groups = a[9].toInt();
  const auto& image = w.transposed ? x : gy;
  const std::int64_t rows = image.size(0) * c10::multiply_integers(image.sizes().slice(2));
  const auto mask = a[10].toBoolList();
  std::vector<BackwardGemm> gemms;
  for (const auto path : {Path::grad_input, Path::grad_weight}) {
    if (mask.get(path == Path::grad_input ? 0 : 1)) {
      gemms.push_back({path, convolution_shape(path, w, rows, weight.sizes())});
    }
  }
  return gemms;
}

std::vector<BackwardGemm> attention_backward_gemms(Arguments a) {
  const auto &q = a[1].toTensor(), &k = a[2].toTensor(), &v = a[3].toTensor();
  const std::int64_t batch = q.size(0) * q.size(1);
  const std::int64_t rows = q.size(2), keys = k.size(2), d = q.size(3), dv = v.size(3);
  std::vector<BackwardGemm> gemms;
  for (const GemmShape shape : {GemmShape{rows, keys, d, batch},     // scores, recomputed
                                GemmShape{rows, keys, dv, batch},    // of the probabilities
                                GemmShape{keys, dv, rows, batch},    // of the values
                                GemmShape{rows, d, keys, batch},     // of the queries
                                GemmShape{d, keys, rows, batch}}) {  // of the keys
    gemms.push_back({Path::grad_input, shape});
  }
  return gemms;
}

}  // namespace

const GemmOp* find_gemm_op(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const GemmOp*> map;
    for (const auto& op : table()) map.emplace(op.name, &op);
    return map;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

Arguments own_arguments(const at::RecordFunction& fn) {
  auto values = fn.inputs();
  if (const auto schema = fn.operator_schema()) {
    const auto n = schema->arguments().size();
    if (values.size() > n) values = values.slice(values.size() - n);
  }
  return values;
}

Window window_of(Arguments a) {
  Window w;
  w.convolution = true;
  const auto weight = a[1].toTensor().sizes();
  w.kernel.assign(weight.begin() + 2, weight.end());
  const auto spread = [&w](std::vector<std::int64_t> v) {
    if (v.size() == 1) v.assign(w.kernel.size(), v[0]);  // one value may stand for all dimensions
    return v;
  };
  w.stride = spread(integers(a[3]));
  w.padding = spread(integers(a[4]));
  w.dilation = spread(integers(a[5]));
  w.transposed = a[6].toBool();
  w.output_padding = spread(integers(a[7]));
  w.groups = a[8].toInt();
  return w;
}

std::vector<GemmShape> forward_shapes(const GemmOp& op, Arguments a) {
  if (op.role != Role::product) return {};
  const auto& left = a[static_cast<std::size_t>(op.a)].toTensor();
  const auto& right = a[static_cast<std::size_t>(op.b)].toTensor();
  if (op.kind == LayerKind::attention) {
    return attention_shapes(left, right, a[2].toTensor());
  }
  if (op.kind != LayerKind::conv) return {matrix_product(left, right)};
  const auto w = window_of(a);
  const std::int64_t places = w.transposed ? c10::multiply_integers(left.sizes().slice(2))
                                           : output_positions(w, left.sizes());
  return {convolution_shape(Path::forward, w, left.size(0) * places, right.sizes())};
}

std::vector<BackwardGemm> backward_gemms(std::string_view name, Arguments a) {
  if (name == "aten::convolution_backward") return convolution_backward_gemms(a);
  if (name == kFusedAttentionBackward) return attention_backward_gemms(a);
  const bool plain = name == "aten::mm" || name == "aten::bmm";
  const bool added = name == "aten::addmm" || name == "aten::baddbmm";
  if (!plain && !added) return {};
  const std::size_t first = plain ? 0 : 1;
  return {{std::nullopt, matrix_product(a[first].toTensor(), a[first + 1].toTensor())}};
}

}  // namespace hot::backward
