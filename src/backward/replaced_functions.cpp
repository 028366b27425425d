#include "backward/replaced_functions.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "backward/kept_x.hpp"
#include "backward/pixel_rows.hpp"

namespace hot::backward {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

/// Whether `path` is left exact by the layer's plan; such a product is counted here.
bool runs_exact(ReplacedLayer& layer, Path path) {
  const auto& s =
      path == Path::grad_input ? layer.schemes().grad_input : layer.schemes().grad_weight;
  if (s.is_exact()) layer.count_exact(path);
  return s.is_exact();
}

struct Context {
  std::shared_ptr<ReplacedLayer> layer;
  bool need_x, need_weight, need_bias;
};

void remember(AutogradContext* ctx, const c10::intrusive_ptr<LayerHolder>& holder, bool x,
              bool weight, bool bias) {
  ctx->set_materialize_grads(false);
  ctx->saved_data["layer"] = c10::IValue::make_capsule(holder);
  ctx->saved_data["needs"] = std::int64_t{x} | std::int64_t{weight} << 1 | std::int64_t{bias} << 2;
}

Context recall(AutogradContext* ctx) {
  const auto needs = ctx->saved_data["needs"].toInt();
  const auto capsule = ctx->saved_data["layer"].toCapsule();
  return {static_cast<LayerHolder*>(capsule.get())->layer, (needs & 1) != 0, (needs & 2) != 0,
          (needs & 4) != 0};
}

struct ReplacedMatmul : torch::autograd::Function<ReplacedMatmul> {
  static Variable forward(AutogradContext* ctx, const std::optional<Variable>& bias,
                          const Variable& a, const Variable& b,
                          const c10::intrusive_ptr<LayerHolder>& holder) {
    const bool need_a = a.requires_grad();
    const bool need_b = b.requires_grad();
    remember(ctx, holder, need_a, need_b, bias && bias->requires_grad());
    Operands o;
    variable_list saved{need_a || need_b ? b : Variable()};
    KeptX::keep(*holder->layer, a, o, need_b, ctx, saved);
    ctx->save_for_backward(std::move(saved));
    return bias ? at::addmm(*bias, a, b) : at::mm(a, b);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto& gy = gradients[0];
    if (!gy.defined()) return {Variable(), Variable(), Variable(), Variable()};
    const auto c = recall(ctx);
    const auto saved = ctx->get_saved_variables();
    const auto& b = saved[0];
    const bool exact_a = c.need_x && runs_exact(*c.layer, Path::grad_input);
    const bool exact_b = c.need_weight && runs_exact(*c.layer, Path::grad_weight);
    const bool planned_a = c.need_x && !exact_a;
    const bool planned_b = c.need_weight && !exact_b;
    Operands o;
    o.gy = gy;
    const auto gy_operands = c.layer->prepare_gy(o, planned_a, planned_b);
    Variable ga, gb;
    if (exact_a) ga = exact_input_gradient(*c.layer, gy, b);
    if (planned_a) ga = c.layer->grad_input(gy_operands.input, b.t());
    if (exact_b) gb = exact_weight_gradient(ctx, *c.layer, gy, b, saved);
    if (planned_b) {
      gb = c.layer->grad_weight(gy_operands.weight, KeptX::operand(*c.layer, o, ctx, saved, 1)).t();
    }
    return {c.need_bias ? gy : Variable(), ga, gb, Variable()};
  }

  static at::Tensor exact_input_gradient(ReplacedLayer& layer, const at::Tensor& gy,
                                         const at::Tensor& b) {
    const ReplacedLayer::Timed timed(layer, &LayerRuns::grad_input_seconds, gy);
    return gy.mm(b.t());
  }

  static at::Tensor exact_weight_gradient(AutogradContext* ctx, ReplacedLayer& layer,
                                          const at::Tensor& gy, const at::Tensor& b,
                                          const variable_list& saved) {
    const ReplacedLayer::Timed timed(layer, &LayerRuns::grad_weight_seconds, gy);
    // As torch does it: the order of the factors follows the weight's layout, so that the bits
    // agree.
    const auto x = KeptX::plain(ctx, saved, 1);
    const bool column_major = b.stride(0) == 1 && b.stride(1) == b.size(0);
    return column_major ? gy.t().mm(x).t() : x.t().mm(gy);
  }
};

struct ReplacedConvolution : torch::autograd::Function<ReplacedConvolution> {
  static Variable forward(AutogradContext* ctx, const Variable& x, const Variable& weight,
                          const std::optional<Variable>& bias, const Window& window,
                          const c10::intrusive_ptr<LayerHolder>& holder) {
    remember(ctx, holder, x.requires_grad(), weight.requires_grad(), bias && bias->requires_grad());
    ctx->saved_data["stride"] = window.stride;
    ctx->saved_data["padding"] = window.padding;
    ctx->saved_data["dilation"] = window.dilation;
    ctx->saved_data["output_padding"] = window.output_padding;
    ctx->saved_data["transposed"] = window.transposed;
    ctx->saved_data["x_sizes"] = x.sizes().vec();
    Operands o;
    o.window = window;
    variable_list saved{weight};
    KeptX::keep(*holder->layer, x, o, weight.requires_grad(), ctx, saved);
    ctx->save_for_backward(std::move(saved));
    return at::convolution(x, weight, bias, window.stride, window.padding, window.dilation,
                           window.transposed, window.output_padding, window.groups);
  }

  static Operands operands(AutogradContext* ctx, const at::Tensor& gy, const at::Tensor& weight) {
    Operands o;
    o.kind = LayerKind::conv;
    o.gy = gy;
    o.weight = weight;
    o.x_sizes = ctx->saved_data["x_sizes"].toIntVector();
    auto& w = o.window;
    w.convolution = true;
    w.kernel.assign(weight.sizes().begin() + 2, weight.sizes().end());
    w.stride = ctx->saved_data["stride"].toIntVector();
    w.padding = ctx->saved_data["padding"].toIntVector();
    w.dilation = ctx->saved_data["dilation"].toIntVector();
    w.output_padding = ctx->saved_data["output_padding"].toIntVector();
    w.transposed = ctx->saved_data["transposed"].toBool();
    return o;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto& gy = gradients[0];
    if (!gy.defined()) return {Variable(), Variable(), Variable(), Variable(), Variable()};
    const auto c = recall(ctx);
    const auto saved = ctx->get_saved_variables();
    const auto o = operands(ctx, gy, saved[0]);
    const bool exact_x = c.need_x && runs_exact(*c.layer, Path::grad_input);
    const bool exact_weight = c.need_weight && runs_exact(*c.layer, Path::grad_weight);

    auto [gx, gw, gb] = torchs_own(ctx, *c.layer, o, saved, {exact_x, exact_weight, c.need_bias});
    const bool planned_x = c.need_x && !exact_x;
    const bool planned_weight = c.need_weight && !exact_weight;
    if (planned_x || planned_weight) {
      const at::AutoDispatchBelowAutograd no_autograd;
      const auto gy_operands = c.layer->prepare_gy(o, planned_x, planned_weight);
      if (planned_x) gx = planned_input_gradient(*c.layer, o, gy_operands.input);
      if (planned_weight) {
        gw = planned_weight_gradient(*c.layer, o, gy_operands.weight,
                                     KeptX::operand(*c.layer, o, ctx, saved, 1));
      }
    }
    return {gx, gw, gb, Variable(), Variable()};
  }

  /// The gradients that stay exact, by torch's own kernel.
  static std::tuple<at::Tensor, at::Tensor, at::Tensor> torchs_own(AutogradContext* ctx,
                                                                   ReplacedLayer& layer,
                                                                   const Operands& o,
                                                                   const variable_list& saved,
                                                                   std::array<bool, 3> mask) {
    if (!mask[0] && !mask[1] && !mask[2]) return {};
    if (!mask[0] && !mask[1]) {
      std::vector<std::int64_t> dims{0};
      for (std::int64_t d = 2; d < o.gy.dim(); ++d) dims.push_back(d);
      return {at::Tensor(), at::Tensor(), o.gy.sum(dims)};
    }
    const ReplacedLayer::Timed timed(
        layer, mask[0] ? &LayerRuns::grad_input_seconds : &LayerRuns::grad_weight_seconds, o.gy);
    auto x = KeptX::plain(ctx, saved, 1);
    if (!x.defined()) x = at::empty(o.x_sizes, o.gy.options());  // grad_input reads its sizes alone
    const auto& w = o.window;
    const std::vector<std::int64_t> bias_sizes{o.gy.size(1)};
    return at::convolution_backward(
        o.gy, x, o.weight, mask[2] ? at::OptionalIntArrayRef(bias_sizes) : std::nullopt, w.stride,
        w.padding, w.dilation, w.transposed, w.output_padding, 1, mask);
  }
};

/// Nothing for a layer without a bias: a Function asks every tensor that it is given for its
/// device.
std::optional<Variable> given(const at::Tensor& bias) {
  return bias.defined() ? std::optional(bias) : std::nullopt;
}

}  // namespace

at::Tensor planned_input_gradient(ReplacedLayer& layer, const Operands& o,
                                  const kernels::Operand& gy) {
  if (!o.window.convolution) return layer.grad_input(gy, weight_matrix(o));
  if (o.window.transposed) return grad_input_from_matrix(o, layer.grad_input(gy, weight_matrix(o)));
  return layer.convolution_grad_input(gy, o);
}

at::Tensor planned_weight_gradient(ReplacedLayer& layer, const Operands& o,
                                   const kernels::Operand& gy, const kernels::Operand& x) {
  const auto gw = layer.grad_weight(gy, x);
  if (o.window.trivial() || o.window.transposed) return grad_weight_from_matrix(o, gw);
  return image_of_pixel_rows(gw.view({-1, o.weight.size(1)}), o.weight.sizes());
}

at::Tensor replaced_matmul(const std::shared_ptr<ReplacedLayer>& layer, const at::Tensor& bias,
                           const at::Tensor& a, const at::Tensor& b) {
  return ReplacedMatmul::apply(given(bias), a, b, c10::make_intrusive<LayerHolder>(layer));
}

at::Tensor replaced_convolution(const std::shared_ptr<ReplacedLayer>& layer, const at::Tensor& x,
                                const at::Tensor& weight, const at::Tensor& bias,
                                const Window& window) {
  return ReplacedConvolution::apply(x, weight, given(bias), window,
                                    c10::make_intrusive<LayerHolder>(layer));
}

}  // namespace hot::backward
