#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "core/errors.hpp"
#include "models/forward.hpp"
#include "models/inputs/archive_spec.hpp"
#include "models/inputs/build_value.hpp"
#include "models/jit.hpp"
#include "models/loss/cross_entropy.hpp"
#include "models/loss/output_kind.hpp"
#include "models/loss/projection.hpp"
#include "models/model_error.hpp"
#include "models/step.hpp"

namespace hot::models {
namespace {

using Function = std::function<at::Tensor(const c10::IValue&, const Batch&)>;

constexpr std::array<std::string_view, 4> kKinds = {"auto", "cross-entropy", "mse", "output"};

/// Torch's warnings of the trial are not shown: the first real step meets and judges the same ones.
class Silence : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

c10::IValue trial(const Model& model, const Batch& batch, std::uint64_t seed) {
  quiet_jit();
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard guard(&silence);
  const at::AutoGradMode with_gradients(true);
  try {
    torch::jit::Module copy = fresh_copy(model);
    seed_default_generator(seed);
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

Function labelled_cross_entropy(std::vector<Logits> logits) {
  return [logits = std::move(logits)](const c10::IValue& output, const Batch& batch) {
    const auto outputs = differentiable_outputs(output);
    at::Tensor loss;
    for (const Logits& one : logits) {
      const at::Tensor part = cross_entropy(outputs.at(one.output), one, batch.labels);
      loss = loss.defined() ? loss + part : part;
    }
    return loss;
  };
}

Function sampled_cross_entropy(std::vector<Logits> logits, std::uint64_t seed) {
  auto samples = std::make_shared<std::vector<SampledLabels>>();
  for (const Logits& one : logits) samples->emplace_back(seed + 1000 * (one.output + 1));
  return [logits = std::move(logits), samples](const c10::IValue& output, const Batch& batch) {
    const auto outputs = differentiable_outputs(output);
    at::Tensor loss;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const at::Tensor& out = outputs.at(logits[i].output);
      const at::Tensor labels = (*samples)[i].labels(batch, out, logits[i]);
      const at::Tensor part = cross_entropy(out, logits[i], labels);
      loss = loss.defined() ? loss + part : part;
    }
    return loss;
  };
}

Function squared_error(std::size_t index) {
  return [index](const c10::IValue& output, const Batch& batch) {
    const at::Tensor out = differentiable_outputs(output).at(index);
    return at::mse_loss(out, batch.labels.to(out.scalar_type()).reshape(out.sizes()));
  };
}

Function projection(std::uint64_t seed) {
  return [seed](const c10::IValue& output, const Batch&) {
    const auto outputs = differentiable_outputs(output);
    if (outputs.empty())
      throw ModelError("no output has a gradient in this step, but some had in the first");
    return projection_loss(outputs, seed);
  };
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

}  // namespace

Loss Loss::choose(const std::string& kind, const Model& model, const Batch& batch,
                  std::uint64_t seed) {
  if (std::find(kKinds.begin(), kKinds.end(), kind) == kKinds.end()) {
    throw UsageError(
        fmt::format("--loss '{}' does not exist; use one of {}", kind, fmt::join(kKinds, ", ")));
  }
  const bool labelled = batch.labels.defined();
  if (kind == "mse" && !labelled) {
    throw UsageError(
        "--loss mse needs targets; give --labels FILE, or the key 'labels' inside --data");
  }
  const c10::IValue output = trial(model, batch, seed);
  const std::vector<at::Tensor> outputs = outputs_or_refuse(model, output);

  Loss loss;
  if (labelled && kind != "output") {
    const LabelFit fit = fit_labels(outputs, batch.labels, kind);
    if (fit.logits.empty()) {
      loss.function_ = squared_error(fit.squared);
      loss.description_ =
          fmt::format("mean squared error of {} to the labels", shape_text(outputs[fit.squared]));
    } else {
      loss.function_ = labelled_cross_entropy(fit.logits);
      loss.description_ = fmt::format("cross-entropy of {} to the labels",
                                      shape_text(outputs[fit.logits[0].output]));
    }
    return loss;
  }
  const std::vector<Logits> logits =
      kind == "output" ? std::vector<Logits>() : find_logits(model, outputs, batch, kind);
  if (!logits.empty()) {
    loss.function_ = sampled_cross_entropy(logits, seed);
    loss.description_ = sampled_text(outputs, logits);
    static_cast<void>(loss.function_(output, batch));  // draws the first minibatch's labels
    return loss;
  }
  loss.function_ = projection(seed);
  if (outputs.size() == 1 && outputs[0].numel() == 1) {
    loss.description_ = "the model's own scalar output";
  } else {
    loss.description_ =
        fmt::format("fixed random projection of {} ({})",
                    outputs.size() == 1 ? "the output" : fmt::format("{} outputs", outputs.size()),
                    shape_text(outputs[0]));
  }
  return loss;
}

at::Tensor Loss::operator()(const c10::IValue& output, const Batch& batch) const {
  return function_(output, batch);
}

}  // namespace hot::models
