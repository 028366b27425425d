#include "models/loss/projection.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

#include "models/forward.hpp"

namespace hot::models {

std::vector<at::Tensor> differentiable_outputs(const c10::IValue& output) {
  std::vector<at::Tensor> found;
  for_each_tensor(output, [&](const at::Tensor& tensor) {
    if (tensor.requires_grad() && tensor.numel() > 0) found.push_back(tensor);
  });
  return found;
}

at::Tensor projection_loss(const std::vector<at::Tensor>& outputs, std::uint64_t seed) {
  if (outputs.size() == 1 && outputs[0].numel() == 1 && outputs[0].is_floating_point()) {
    return outputs[0].sum();
  }
  at::Tensor loss;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor out = at::is_complex(outputs[i]) ? at::view_as_real(outputs[i]) : outputs[i];
    at::Generator generator = at::detail::createCPUGenerator(seed + i);
    const at::Tensor direction = at::randn(out.sizes(), std::move(generator), at::dtype(at::kFloat))
                                     .div_(std::sqrt(static_cast<double>(out.numel())))
                                     .to(out.device(), out.scalar_type());
    const at::Tensor part = (out * direction).sum();
    loss = loss.defined() ? loss + part : part;
  }
  return loss;
}

}  // namespace hot::models
