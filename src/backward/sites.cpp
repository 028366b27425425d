#include "backward/sites.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hot::backward {
namespace {

using Arguments = c10::ArrayRef<const c10::IValue>;

const at::Tensor& tensor_at(Arguments a, int index) {
  static const at::Tensor none;
  const auto i = static_cast<std::size_t>(index);
  return index >= 0 && i < a.size() && a[i].isTensor() ? a[i].toTensor() : none;
}

const c10::StorageImpl* storage_of(const at::Tensor& t) {
  return t.defined() && t.has_storage() ? t.storage().unsafeGetStorageImpl() : nullptr;
}

bool needs_gradient(const at::Tensor& t) {
  return t.defined() && t.requires_grad();
}

std::string base_name(std::string_view op) {
  const auto name = op.substr(op.find("::") + 2);
  return std::string(name.starts_with("_scaled_dot_product") ||
                             name == "scaled_dot_product_attention"
                         ? "attention"
                         : name);
}

bool is_convolution(const GemmOp& op) {
  return op.kind == LayerKind::conv;
}

bool is_matrix_product(const GemmOp& op) {
  return op.name == "aten::mm" || op.name == "aten::addmm";
}

bool is_scaled(const GemmOp& op, Arguments a) {
  const auto one = [](const c10::IValue& v) { return v.toScalar().toDouble() == 1.0; };
  return op.name == "aten::addmm" && !(one(a[3]) && one(a[4]));
}

/// Why the backward of this product can't run in another scheme; empty if it can.
std::string obstacle_of(const GemmOp& op, const GemmOp& outermost, Arguments a, int parameter,
                        bool weight_is_left, const Window& window) {
  if (op.role == Role::opaque) {
    return "its products are hidden inside one library kernel (" + std::string(op.name) + ")";
  }
  if (op.kind == LayerKind::attention)
    return "fused attention: products of activations, left exact";
  if (parameter < 0) {
    const bool layer = outermost.kind == LayerKind::linear || is_convolution(outermost) ||
                       outermost.kind == LayerKind::conv_transpose;
    return layer ? "its weight is computed in the forward pass or is no parameter, so no plan can "
                   "name it"
                 : "product of two activations, left exact";
  }
  if (tensor_at(a, op.b).dim() == 1 || op.name == "aten::mv" || op.name == "aten::addmv") {
    return "matrix times vector: a single row";
  }
  if (op.kind == LayerKind::matmul) return "a batch of weights, one product each";
  if (weight_is_left) return "the weight is the left factor";
  if (is_scaled(op, a)) return "addmm with alpha or beta other than 1";
  if (window.groups > 1) {
    const auto weight = tensor_at(a, op.b).sizes();
    const auto per_group = window.transposed ? weight[1] : weight[0] / window.groups;
    return fmt::format("{} convolution: each of {} groups contracts {} output channel{}",
                       per_group == 1 ? "depthwise" : "grouped", window.groups, per_group,
                       per_group == 1 ? "" : "s");
  }
  if (tensor_at(a, op.b).scalar_type() != at::kFloat) return "its operands are not float32";
  return "";
}

}  // namespace

std::string Sites::unique_name(const std::string& wanted) {
  const int n = ++names_[wanted];
  return n == 1 ? wanted : fmt::format("{}_{}", wanted, n);
}

std::size_t Sites::find_or_add(const GemmOp& op, const GemmOp& outermost, Arguments a,
                               int parameter, const Window& window) {
  std::string key = fmt::format("parameter {}", parameter);
  std::string path;
  if (parameter < 0) {
    path = full_path(model_.module, current_modules());
    key = fmt::format("{}|{}|{}", path, outermost.name, op.name);
    for (const auto& s : forward_shapes(op, a)) key += fmt::format("|{} {} {}", s.m, s.n, s.k);
  }
  if (const auto found = by_key_.find(key); found != by_key_.end()) return found->second;

  Site site;
  site.kind = op.kind;
  if (window.convolution && window.transposed) site.kind = LayerKind::conv_transpose;
  if (outermost.kind == LayerKind::matmul && parameter < 0) site.kind = LayerKind::matmul;
  site.op = outermost.name;
  site.parameter = parameter;
  if (parameter >= 0) {
    const auto& p = model_.parameters[static_cast<std::size_t>(parameter)];
    site.name = unique_name(book_.layer_name(parameter));
    site.aliases.assign(p.names.begin() + 1, p.names.end());
    site.weight_shape = p.tensor.sizes().vec();
  } else {
    const auto base = base_name(outermost.name);
    site.name = unique_name(path.empty() ? base : path + "." + base);
  }
  const bool left = parameter >= 0 && book_.parameter_of(tensor_at(a, op.b)) < 0;
  site.obstacle = obstacle_of(op, outermost, a, parameter, left, window);
  sites_.push_back(std::move(site));
  by_key_.emplace(key, sites_.size() - 1);
  return sites_.size() - 1;
}

Call Sites::call(const GemmOp& op, const GemmOp& outermost, Arguments a) {
  const auto& left = tensor_at(a, op.a);
  const auto& right = tensor_at(a, op.b);
  Window window;
  if (is_convolution(op)) window = window_of(a);
  int parameter = book_.parameter_of(right);
  if (parameter < 0 && op.role == Role::product && op.kind != LayerKind::attention) {
    parameter = book_.parameter_of(left);
  }

  Call call;
  call.site = find_or_add(op, outermost, a, parameter, window);
  auto& site = sites_[call.site];
  call.index = site.calls++;
  call.a = storage_of(left);
  call.b = storage_of(right);
  auto& o = call.operands;
  o.layer = site.name;
  o.call = call.index;
  o.kind = site.kind;
  o.window = std::move(window);
  o.weight_transposed = is_matrix_product(op);
  o.weight = right;
  o.need_grad_input = needs_gradient(left);
  o.need_grad_weight = needs_gradient(right);
  if (left.defined()) o.x_sizes = left.sizes().vec();
  if (o.need_grad_weight) o.x = left;  // autograd keeps it as well, and as long
  return call;
}

}  // namespace hot::backward
