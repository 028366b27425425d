#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/errors.hpp"
#include "models/forward.hpp"
#include "models/jit.hpp"
#include "models/loss/functions.hpp"
#include "models/loss/output_kind.hpp"
#include "models/loss/projection.hpp"
#include "models/model_error.hpp"
#include "models/step.hpp"
#include "models/warnings.hpp"

namespace hot::models {
namespace {

constexpr std::array<std::string_view, 4> kKinds = {"auto", "cross-entropy", "mse", "output"};

c10::IValue trial(const Model& model, const Batch& batch, std::uint64_t seed) {
  quiet_jit();
  KeptWarnings thrown_away;
  const at::AutoGradMode with_gradients(true);
  try {
    torch::jit::Module copy = fresh_copy(model);
    seed_default_generator(seed, model.device);
    return run_method(copy, model, batch.inputs);
  } catch (...) {
    rethrow_model_error(fmt::format("its {}", model.method));
  }
}

std::string shape_text(const at::Tensor& tensor) {
  return fmt::format("{} {}", c10::toString(tensor.scalar_type()), fmt::join(tensor.sizes(), "x"));
}

std::vector<at::Tensor> outputs_or_refuse(const Model& model, const c10::IValue& output) {
  std::vector<at::Tensor> outputs = differentiable_outputs(output);
  if (!outputs.empty()) return outputs;
  const bool trainable = std::any_of(model.parameters.begin(), model.parameters.end(),
                                     [](const Parameter& p) { return p.tensor.requires_grad(); });
  std::vector<std::string> shapes;
  for_each_tensor(output, [&](const at::Tensor& tensor) { shapes.push_back(shape_text(tensor)); });
  const std::string returned =
      shapes.empty() ? "no tensor" : fmt::format("{}", fmt::join(shapes, ", "));
  throw ModelError(fmt::format(
      "no output has a gradient: {} (it returns {}); {}",
      trainable ? "no trainable parameter reaches the outputs"
                : "the model has no trainable parameter",
      returned,
      trainable ? "export a model whose forward returns logits or features, neither detached nor "
                  "under no_grad"
                : "export the floating-point model, with its parameters requiring a gradient"));
}

std::string sampled_text(const std::vector<at::Tensor>& outputs,
                         const std::vector<Logits>& logits) {
  std::vector<std::string> taken;
  for (const Logits& one : logits) taken.push_back(shape_text(outputs[one.output]));
  return fmt::format(
      "cross-entropy to labels sampled from the model's own prediction (true Fisher; {} taken for "
      "{})",
      fmt::join(taken, ", "), logits[0].probabilities ? "probabilities" : "logits");
}

/// What choose() settles for one trial's output.
struct Choice {
  LossFunction function;
  std::string description;
};

Choice with_labels(const std::vector<at::Tensor>& outputs, const Batch& batch,
                   const std::string& kind) {
  const LabelFit fit = fit_labels(outputs, batch.labels, kind);
  if (fit.logits.empty()) {
    return {squared_error(fit.squared), fmt::format("mean squared error of {} to the labels",
                                                    shape_text(outputs[fit.squared]))};
  }
  return {
      labelled_cross_entropy(fit.logits),
      fmt::format("cross-entropy of {} to the labels", shape_text(outputs[fit.logits[0].output]))};
}

Choice projected(const std::vector<at::Tensor>& outputs, std::uint64_t seed) {
  if (outputs.size() == 1 && outputs[0].numel() == 1) {
    return {projection(seed), "the model's own scalar output"};
  }
  const std::string what =
      outputs.size() == 1 ? "the output" : fmt::format("{} outputs", outputs.size());
  return {projection(seed),
          fmt::format("fixed random projection of {} ({})", what, shape_text(outputs[0]))};
}

Choice pick(const std::string& kind, const Model& model, const c10::IValue& output,
            const Batch& batch, std::uint64_t seed) {
  const std::vector<at::Tensor> outputs = outputs_or_refuse(model, output);
  if (batch.labels.defined() && kind != "output") return with_labels(outputs, batch, kind);
  if (kind == "output") return projected(outputs, seed);
  const std::vector<Logits> logits = find_logits(model, outputs, batch, kind);
  if (logits.empty()) return projected(outputs, seed);
  Choice choice{sampled_cross_entropy(logits, seed), sampled_text(outputs, logits)};
  static_cast<void>(choice.function(output, batch));  // draws the first minibatch's labels
  return choice;
}

}  // namespace

Loss Loss::choose(const std::string& kind, const Model& model, const Batch& batch,
                  std::uint64_t seed) {
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    throw UsageError(
        fmt::format("--loss '{}' does not exist; use one of {}", kind, fmt::join(kKinds, ", ")));
  }
  if (kind == "mse" && !batch.labels.defined()) {
    throw UsageError(
        "--loss mse needs targets; give --labels FILE, or the key 'labels' inside --data");
  }
  const c10::IValue output = trial(model, batch, seed);
  try {
    Choice choice = pick(kind, model, output, batch, seed);
    Loss loss;
    loss.function_ = std::move(choice.function);
    loss.description_ = std::move(choice.description);
    return loss;
  } catch (...) {
    rethrow_model_error("the loss");
  }
}

at::Tensor Loss::operator()(const c10::IValue& output, const Batch& batch) const {
  return function_(output, batch);
}

}  // namespace hot::models
