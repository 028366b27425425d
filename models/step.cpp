#include "models/step.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "device/clock.hpp"
#include "models/forward.hpp"
#include "models/jit.hpp"
#include "models/model_error.hpp"
#include "models/warnings.hpp"

namespace hot::models {
namespace {

/// Throws ModelError where an operator without an autograd kernel was differentiated: its inputs
/// got no gradient, and torch merely warns.
void refuse_missing_kernels(const std::vector<std::string>& warnings) {
  for (const std::string& text : warnings) {
    if (text.find("autograd kernel was not registered") == std::string::npos) continue;
    throw ModelError(
        fmt::format("operator {} has no autograd kernel: what lies before it gets no gradient, "
                    "so the step can't be trusted; "
                    "load the library that registers its gradient with --load-library, or export "
                    "the model without it",
                    text.substr(0, text.find(": "))));
  }
}

void clear_gradients(const Model& model) {
  for (const Parameter& parameter : model.parameters) parameter.tensor.mutable_grad().reset();
}

/// Clears the parameters' gradients at the end, however that comes.
class NoGradientsLeft {
 public:
  explicit NoGradientsLeft(const Model& model) : model_(model) {}
  ~NoGradientsLeft() { clear_gradients(model_); }
  NoGradientsLeft(const NoGradientsLeft&) = delete;
  NoGradientsLeft& operator=(const NoGradientsLeft&) = delete;

 private:
  const Model& model_;
};

std::vector<at::Tensor> take_gradients(const Model& model) {
  std::vector<at::Tensor> gradients;
  gradients.reserve(model.parameters.size());
  for (const Parameter& parameter : model.parameters) {
    const at::Tensor& gradient = parameter.tensor.mutable_grad();
    gradients.push_back(gradient.defined() ? gradient.detach() : at::Tensor());
  }
  return gradients;
}

at::Tensor forward_loss(const Model& model, torch::jit::Module& copy, const Batch& batch,
                        const Loss& loss) {
  c10::IValue output;
  try {
    output = run_method(copy, model, batch.inputs);
  } catch (...) {
    rethrow_model_error(fmt::format("its {}", model.method));
  }
  try {
    return loss(output, batch);
  } catch (...) {
    rethrow_model_error("the loss");
  }
}

}  // namespace

StepResult step_on(const Model& model, torch::jit::Module& copy, const Batch& batch,
                   const Loss& loss, const std::function<void()>& between) {
  quiet_jit();
  const at::AutoGradMode with_gradients(true);
  KeptWarnings warnings;
  clear_gradients(model);

  StepResult result;
  device::Clock& clock = device::clock_of(model.device);
  device::Span forward(clock);
  at::Tensor value = forward_loss(model, copy, batch, loss);
  forward.end();
  result.forward_seconds = forward.seconds();
  if (!value.requires_grad()) {
    throw ModelError(
        "no output has a gradient: the loss doesn't depend on any trainable parameter");
  }
  result.loss = value.item<double>();
  if (between) between();

  device::Span backward(clock);
  try {
    value.backward();
  } catch (...) {
    rethrow_model_error("the backward pass");
  }
  backward.end();
  result.backward_seconds = backward.seconds();
  refuse_missing_kernels(warnings.texts());
  warnings.pass_on();
  result.gradients = take_gradients(model);
  return result;
}

StepResult run_step(const Model& model, const Batch& batch, const Loss& loss, std::uint64_t seed,
                    const std::function<void()>& between) {
  quiet_jit();
  const NoGradientsLeft clean(model);
  torch::jit::Module copy = fresh_copy(model);
  seed_default_generator(seed, model.device);
  return step_on(model, copy, batch, loss, between);
}

double run_forward(const Model& model, const Batch& batch, const Loss& loss, std::uint64_t seed) {
  quiet_jit();
  const at::AutoGradMode with_gradients(true);
  const KeptWarnings warnings;
  torch::jit::Module copy = fresh_copy(model);
  seed_default_generator(seed);
  return forward_loss(model, copy, batch, loss).item<double>();
}

}  // namespace hot::models
