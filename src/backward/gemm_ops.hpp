#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <optional>
#include <string_view>
#include <vector>

#include "backward/operands.hpp"
#include "core/gemm_shape.hpp"
#include "core/layer_trace.hpp"

namespace hot::backward {

/// How an operation takes part in a step. `composite`: runs products through other operations and
/// may name the layer; `product`: one autograd node with GEMMs in it; `opaque`: a product whose
/// GEMMs a library hides, without a count.
enum class Role { composite, product, opaque };

/// One row of the table of operations that carry matrix products (torchscript.md, section 2).
struct GemmOp {
  std::string_view name;
  Role role;
  LayerKind kind;
  int a = -1;  ///< position of the left factor (x, query) among the arguments
  int b = -1;  ///< position of the right factor (weight, key)
  int c = -1;  ///< position of a further tensor that may require a gradient (bias, value), or -1
};

/// The row of an operation, or nullptr for one without matrix products.
[[nodiscard]] const GemmOp* find_gemm_op(std::string_view name);

/// The operation's own arguments. The JIT hands over its whole stack; the arguments are the last
/// ones.
[[nodiscard]] c10::ArrayRef<const c10::IValue> own_arguments(const at::RecordFunction& fn);

/// The convolution's window from the arguments of aten::convolution or aten::_convolution.
[[nodiscard]] Window window_of(c10::ArrayRef<const c10::IValue> arguments);

/// GEMMs of a product in the forward pass. Attention: scores and values.
[[nodiscard]] std::vector<GemmShape> forward_shapes(const GemmOp& op,
                                                    c10::ArrayRef<const c10::IValue> arguments);

/// A product that ran inside a backward node. `mask_path` is set where the operation itself says
/// which gradient it is for.
struct BackwardGemm {
  std::optional<Path> path;
  GemmShape shape;
};

/// GEMMs of an operation inside the backward pass (mm, bmm, addmm, baddbmm, convolution_backward,
/// fused attention's backward with its recomputed scores); empty for any other.
[[nodiscard]] std::vector<BackwardGemm> backward_gemms(std::string_view name,
                                                       c10::ArrayRef<const c10::IValue> arguments);

}  // namespace hot::backward
