#include "models/step.hpp"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/errors.hpp"
#include "models/forward.hpp"
#include "models/jit.hpp"
#include "models/model_error.hpp"

namespace hot::models {
namespace {

/// Keeps torch's warnings, each text once, and off the terminal.
class Warnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    const std::string& text = warning.msg();
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(text);
  }

  /// Throws ModelError where an operator without an autograd kernel was differentiated: its inputs
  /// got no gradient.
  void refuse_missing_kernels() const {
    for (const std::string& text : texts_) {
      if (text.find("autograd kernel was not registered") == std::string::npos) continue;
      throw ModelError(
          fmt::format("operator {} has no autograd kernel: what lies before it gets no gradient, "
                      "so the step can't be trusted; "
                      "load the library that registers its gradient with --load-library, or export "
                      "the model without it",
                      text.substr(0, text.find(": "))));
    }
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
};

/// Clears the parameters' gradients now and at the end, however that comes.
class NoGradientsLeft {
 public:
  explicit NoGradientsLeft(const Model& model) : model_(model) { clear(); }
  ~NoGradientsLeft() { clear(); }
  NoGradientsLeft(const NoGradientsLeft&) = delete;
  NoGradientsLeft& operator=(const NoGradientsLeft&) = delete;

 private:
  void clear() {
    for (const Parameter& parameter : model_.parameters) parameter.tensor.mutable_grad().reset();
  }
  const Model& model_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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

StepResult run_step(const Model& model, const Batch& batch, const Loss& loss, std::uint64_t seed,
                    const std::function<void()>& between) {
  quiet_jit();
  const at::AutoGradMode with_gradients(true);
  Warnings warnings;
  const c10::WarningUtils::WarningHandlerGuard capture(&warnings);
  const NoGradientsLeft clean(model);
  torch::jit::Module copy = fresh_copy(model);
  seed_default_generator(seed);

  StepResult result;
  auto start = std::chrono::steady_clock::now();
  at::Tensor value = forward_loss(model, copy, batch, loss);
  result.forward_seconds = seconds_since(start);
  if (!value.requires_grad()) {
    throw ModelError(
        "no output has a gradient: the loss doesn't depend on any trainable parameter");
  }
  result.loss = value.item<double>();
  if (between) between();

  start = std::chrono::steady_clock::now();
  try {
    value.backward();
  } catch (...) {
    rethrow_model_error("the backward pass");
  }
  result.backward_seconds = seconds_since(start);
  warnings.refuse_missing_kernels();
  result.gradients = take_gradients(model);
  result.warnings = warnings.take();
  return result;
}

}  // namespace hot::models
