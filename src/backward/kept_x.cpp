#include "backward/kept_x.hpp"

#include <ATen/ATen.h>

#include "backward/unfolded_rows.hpp"
#include "kernels/stored.hpp"

namespace hot::backward {
namespace {

enum Form : std::int64_t { none = 0, plain_x = 1, prepared = 2, prepared_unfolded = 3 };

Form form_of(torch::autograd::AutogradContext* ctx) {
  return static_cast<Form>(ctx->saved_data["kept"].toInt());
}

}  // namespace

void KeptX::keep(ReplacedLayer& layer, const at::Tensor& x, const Operands& o, bool needed,
                 torch::autograd::AutogradContext* ctx, torch::autograd::variable_list& saved) {
  Form form = none;
  if (needed && layer.compresses(x, o.window)) form = prepared;
  if (needed && form == none && layer.compresses_unfolded(x, o.window)) form = prepared_unfolded;
  if (form != none) {
    auto [operand, levels] =
        kernels::stored(form == prepared ? layer.prepare_x(x.detach(), o.window)
                                         : layer.prepare_unfolded_x(x.detach(), o.window));
    if (levels) ctx->saved_data["levels"] = *levels;
    if (operand.packed)
      ctx->saved_data["packed"] =
          std::vector<std::int64_t>{operand.packed->rows, operand.packed->cols};
    if (operand.layout) {
      const kernels::LevelLayout& l = *operand.layout;
      ctx->saved_data["layout"] =
          std::vector<std::int64_t>{l.terms, l.free, l.pitch, l.padded_free, l.packed ? 1 : 0};
    }
    saved.push_back(std::move(operand.values));
    saved.push_back(operand.scales.defined() ? std::move(operand.scales) : at::Tensor());
  } else if (needed) {
    form = plain_x;
    saved.push_back(x);
  }
  ctx->saved_data["kept"] = static_cast<std::int64_t>(form);
}

at::Tensor KeptX::plain(torch::autograd::AutogradContext* ctx,
                        const torch::autograd::variable_list& saved, std::size_t at) {
  return form_of(ctx) == plain_x ? saved[at] : at::Tensor();
}

kernels::Operand KeptX::operand(ReplacedLayer& layer, const Operands& o,
                                torch::autograd::AutogradContext* ctx,
                                const torch::autograd::variable_list& saved, std::size_t at) {
  const auto& scheme = layer.schemes().grad_weight;
  const bool unfolds = o.window.convolution && !o.window.trivial();
  if (form_of(ctx) == plain_x) {
    Operands with_x = o;
    with_x.x = saved[at];
    if (!o.window.convolution || o.window.transposed)
      return kernels::prepare_x(x_matrix(with_x), scheme);
    if (!unfolds) return prepare_pixel_x(with_x.x, scheme);
    return prepare_unfolded(with_x.x, *layer.runs_of(o), scheme);
  }
  kernels::Operand operand = kernels::form_of_x(scheme);
  operand.values = saved[at];
  operand.scales = saved[at + 1];
  if (ctx->saved_data.count("packed") != 0) {
    const auto size = ctx->saved_data["packed"].toIntVector();
    operand.packed = kernels::MatrixSize{size[0], size[1]};
  }
  if (ctx->saved_data.count("layout") != 0) {
    const auto l = ctx->saved_data["layout"].toIntVector();
    operand.layout = kernels::LevelLayout{l[0], l[1], l[2], l[3], l[4] != 0};
    operand.format = scheme.format_of_other();  // FP8 numbers are floats on the CPU, bytes here
    operand.granularity = scheme.other;
  }
  if (ctx->saved_data.count("levels") != 0)
    operand = kernels::restored({operand, ctx->saved_data["levels"].toIntVector()});
  if (unfolds && form_of(ctx) == prepared) return unfolded(operand, *layer.runs_of(o));
  return operand;
}

}  // namespace hot::backward
