#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/layer_trace.hpp"

namespace hot::backward {

/// How a convolution slides; the defaults are a linear layer's (no kernel at all).
struct Window {
  bool convolution = false;
  bool transposed = false;
  std::vector<std::int64_t> kernel, stride, padding, dilation, output_padding;
  std::int64_t groups = 1;

  /// True where unfolding is a mere reshape: linear layers and 1×1 convolutions of stride 1 without
  /// padding.
  [[nodiscard]] bool trivial() const;

  /// An ordinary convolution's output sizes for an image of these spatial sizes.
  [[nodiscard]] std::vector<std::int64_t> positions(at::IntArrayRef image) const;
};

/// The backward pass of one call of one layer with a weight, as autograd hands it over, and its
/// reading as the two GEMMs of methods.md section 1 over 2-D matrices. A transposed convolution is
/// read with gy unfolded (L = N·positions of the input, "O" = O·kernel), an ordinary one with x
/// unfolded ("I" = I·kernel).
struct Operands {
  std::string layer;  ///< the layer's name
  int call = 0;       ///< 0, 1, … within one step
  LayerKind kind = LayerKind::linear;
  Window window;
  bool weight_transposed = false;  ///< addmm / matmul: weight is [I×O]
  at::Tensor gy;                   ///< gradient of the layer's output, output's shape
  at::Tensor weight;               ///< as the operation received it
  at::Tensor x;                    ///< the layer's input; undefined when grad_weight isn't needed
  std::vector<std::int64_t> x_sizes;
  bool need_grad_input = false;
  bool need_grad_weight = false;
};

/// gy as [L×O] (a view where strides allow it).
[[nodiscard]] at::Tensor gy_matrix(const Operands& o);
/// The weight as [O×I], a view.
[[nodiscard]] at::Tensor weight_matrix(const Operands& o);
/// x as [L×I]: a view for trivial windows, else unfolded (im2col).
[[nodiscard]] at::Tensor x_matrix(const Operands& o);
/// [L×I] back to the input's shape: reshape, or fold (the adjoint of unfolding).
[[nodiscard]] at::Tensor grad_input_from_matrix(const Operands& o, const at::Tensor& gx);
/// [O×I] back to the weight's shape.
[[nodiscard]] at::Tensor grad_weight_from_matrix(const Operands& o, const at::Tensor& gw);

}  // namespace hot::backward
