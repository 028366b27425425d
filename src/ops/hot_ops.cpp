#include <ATen/ATen.h>
#include <torch/library.h>

#include "backward/replaced_functions.hpp"
#include "kernels/device_backend.hpp"
#include "ops/planned_layer.hpp"

// The operators of libhot_ops.so. Forward is torch's own; backward is the plan's, by the functions
// that `hot-analyze` itself puts into a TorchScript model.

namespace hot::ops {
namespace {

using Layer = c10::intrusive_ptr<PlannedLayer>;
using Bias = std::optional<at::Tensor>;

at::Tensor given(const Bias& bias) {
  return bias.value_or(at::Tensor());
}

/// Planned products run on float32 tensors of one device, the CPU or a CUDA one that this library
/// was built for; anything else is refused by the layer's name.
void check_tensors(const Layer& layer, const at::Tensor& x, const at::Tensor& weight,
                   const Bias& bias) {
  for (const at::Tensor& t : {x, weight, given(bias)}) {
    if (!t.defined()) continue;
    TORCH_CHECK_TYPE(t.scalar_type() == at::kFloat, "layer '", layer->name(), "' got ",
                     t.scalar_type(),
                     "; a planned layer runs in float32: switch autocast off around it, or leave "
                     "the layer exact in the plan");
    TORCH_CHECK_VALUE(t.device() == x.device(), "layer '", layer->name(), "' got a tensor on ",
                      t.device(), " beside one on ", x.device(),
                      "; its input, weight and bias must be on one device");
    TORCH_CHECK_NOT_IMPLEMENTED(
        t.device().is_cpu() || kernels::cuda_backend() != nullptr, "layer '", layer->name(),
        "' runs on a GPU, but this libhot_ops.so was built without CUDA: move the model to the "
        "CPU, or build with -DHOT_CUDA=ON");
  }
}

at::Tensor linear_forward(const at::Tensor& x, const at::Tensor& weight, const Bias& bias,
                          const Layer&) {
  return at::linear(x, weight, bias);
}

/// As at::linear takes it apart: one addmm over all rows where they lie in a row, else a product
/// and a sum, so that forward gives the same bits.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const Bias& bias,
                  const Layer& layer) {
  check_tensors(layer, x, weight, bias);
  TORCH_CHECK_VALUE(x.dim() > 0 && weight.dim() == 2 && x.size(-1) == weight.size(1), "layer '",
                    layer->name(), "' got an input of ", x.sizes(), " for a weight of ",
                    weight.sizes());
  if (!at::GradMode::is_enabled()) return at::linear(x, weight, bias);
  const bool one = x.dim() == 2 || (x.dim() == 3 && x.is_contiguous());
  const at::Tensor rows = x.dim() == 2 ? x : x.reshape({-1, x.size(-1)});
  at::Tensor y =
      backward::replaced_matmul(layer->layer(), one ? given(bias) : at::Tensor(), rows, weight.t());
  if (x.dim() != 2) {
    auto sizes = x.sizes().vec();
    sizes.back() = weight.size(0);
    y = y.view(sizes);
  }
  return bias && !one ? y.add(*bias) : y;
}

at::Tensor conv_forward(const at::Tensor& x, const at::Tensor& weight, const Bias& bias,
                        at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                        bool transposed, at::IntArrayRef output_padding, const Layer&) {
  return at::convolution(x, weight, bias, stride, padding, dilation, transposed, output_padding, 1);
}

at::Tensor conv(const at::Tensor& x, const at::Tensor& weight, const Bias& bias,
                at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation,
                bool transposed, at::IntArrayRef output_padding, const Layer& layer) {
  check_tensors(layer, x, weight, bias);
  TORCH_CHECK_VALUE(x.dim() == weight.dim() && x.size(1) == weight.size(transposed ? 0 : 1),
                    "layer '", layer->name(), "' got an input of ", x.sizes(), " for a weight of ",
                    weight.sizes());
  if (!at::GradMode::is_enabled())
    return conv_forward(x, weight, bias, stride, padding, dilation, transposed, output_padding,
                        layer);
  backward::Window window;
  window.convolution = true;
  window.transposed = transposed;
  window.kernel = weight.sizes().slice(2).vec();
  window.stride = stride.vec();
  window.padding = padding.vec();
  window.dilation = dilation.vec();
  window.output_padding = output_padding.vec();
  return backward::replaced_convolution(layer->layer(), x, weight, given(bias), window);
}

}  // namespace
}  // namespace hot::ops

TORCH_LIBRARY(hot, library) {
  using hot::ops::PlannedLayer;
  library.class_<PlannedLayer>("Layer")
      .def(torch::init<std::string, std::string, std::string, std::int64_t>())
      .def("name", [](const c10::intrusive_ptr<PlannedLayer>& self) { return self->name(); })
      .def("runs", [](const c10::intrusive_ptr<PlannedLayer>& self) { return self->runs(); })
      .def("forward_seconds",
           [](const c10::intrusive_ptr<PlannedLayer>& self) { return self->forward_seconds(); });
  library.def(
      "linear(Tensor x, Tensor weight, Tensor? bias, __torch__.torch.classes.hot.Layer layer) -> "
      "Tensor");
  library.def(
      "conv(Tensor x, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
      "bool transposed, int[] output_padding, __torch__.torch.classes.hot.Layer layer) -> Tensor");
}

namespace hot::ops {
namespace {

void planned(torch::Library& library) {
  library.impl("linear", linear);
  library.impl("conv", conv);
}

void forward_alone(torch::Library& library) {
  library.impl("linear", linear_forward);
  library.impl("conv", conv_forward);
}

}  // namespace
}  // namespace hot::ops

TORCH_LIBRARY_IMPL(hot, AutogradCPU, library) {
  hot::ops::planned(library);
}
TORCH_LIBRARY_IMPL(hot, AutogradCUDA, library) {
  hot::ops::planned(library);
}

// Inference mode, where nothing is recorded, and shapes alone.
TORCH_LIBRARY_IMPL(hot, CPU, library) {
  hot::ops::forward_alone(library);
}
TORCH_LIBRARY_IMPL(hot, CUDA, library) {
  hot::ops::forward_alone(library);
}
TORCH_LIBRARY_IMPL(hot, Meta, library) {
  hot::ops::forward_alone(library);
}
