#include "models/loss/functions.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "core/errors.hpp"
#include "models/loss/projection.hpp"

namespace hot::models {
namespace {

/// Output number `index`, which had a gradient in the trial.
const at::Tensor& output_at(const std::vector<at::Tensor>& outputs, std::size_t index) {
  if (index < outputs.size()) return outputs[index];
  throw ModelError(fmt::format(
      "output {} has no gradient in this step, but had one in the first; give --loss output, or "
      "inputs on which the model always computes the same outputs",
      index));
}

}  // namespace

LossFunction labelled_cross_entropy(std::vector<Logits> logits) {
  return [logits = std::move(logits)](const c10::IValue& output, const Batch& batch) {
    const auto outputs = differentiable_outputs(output);
    at::Tensor loss;
    for (const Logits& one : logits) {
      const at::Tensor part = cross_entropy(output_at(outputs, one.output), one, batch.labels);
      loss = loss.defined() ? loss + part : part;
    }
    return loss;
  };
}

LossFunction sampled_cross_entropy(std::vector<Logits> logits, std::uint64_t seed) {
  auto samples = std::make_shared<std::vector<SampledLabels>>();
  for (const Logits& one : logits) samples->emplace_back(seed + 1000 * (one.output + 1));
  return [logits = std::move(logits), samples](const c10::IValue& output, const Batch& batch) {
    const auto outputs = differentiable_outputs(output);
    at::Tensor loss;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const at::Tensor& out = output_at(outputs, logits[i].output);
      const at::Tensor labels = (*samples)[i].labels(batch, out, logits[i]);
      const at::Tensor part = cross_entropy(out, logits[i], labels);
      loss = loss.defined() ? loss + part : part;
    }
    return loss;
  };
}

LossFunction squared_error(std::size_t index) {
  return [index](const c10::IValue& output, const Batch& batch) {
    const auto outputs = differentiable_outputs(output);
    const at::Tensor& out = output_at(outputs, index);
    return at::mse_loss(out, batch.labels.to(out.scalar_type()).reshape(out.sizes()));
  };
}

LossFunction projection(std::uint64_t seed) {
  return [seed](const c10::IValue& output, const Batch&) {
    const auto outputs = differentiable_outputs(output);
    if (outputs.empty())
      throw ModelError("no output has a gradient in this step, but some had in the first");
    return projection_loss(outputs, seed);
  };
}

}  // namespace hot::models
