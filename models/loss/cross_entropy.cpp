#include "models/loss/cross_entropy.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/errors.hpp"
#include "models/forward.hpp"

namespace hot::models {
namespace {

constexpr std::int64_t kIgnored = -100;

at::Tensor first_tensor(const Batch& batch) {
  at::Tensor first;
  for (const c10::IValue& input : batch.inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      if (!first.defined()) first = tensor;
    });
  }
  return first;
}

void check_labels(const at::Tensor& labels, std::int64_t classes) {
  const at::Tensor counted = labels.masked_select(labels.ne(kIgnored));
  if (counted.numel() == 0)
    throw ModelError("every label is -100 (left out); give labels with --labels");
  const std::int64_t low = counted.min().item<std::int64_t>();
  const std::int64_t high = counted.max().item<std::int64_t>();
  if (low < 0 || high >= classes) {
    throw ModelError(
        fmt::format("the labels run from {} to {}, but the output has {} classes (0 to {}); give "
                    "labels that fit with --labels",
                    low, high, classes, classes - 1));
  }
}

}  // namespace

std::string Logits::describe() const {
  return fmt::format("output {}, classes in dimension {}{}", output, dimension,
                     probabilities ? ", probabilities" : "");
}

at::Tensor classes_last(const at::Tensor& output, const Logits& logits) {
  return output.movedim(logits.dimension, -1);
}

at::Tensor cross_entropy(const at::Tensor& output, const Logits& logits, const at::Tensor& labels) {
  const at::Tensor rows = classes_last(output, logits);
  if (labels.sizes() != rows.sizes().slice(0, static_cast<std::size_t>(rows.dim() - 1))) {
    throw ModelError(fmt::format(
        "labels of shape {} do not fit the output of shape {}; give labels that fit with --labels",
        fmt::join(labels.sizes(), "x"), fmt::join(output.sizes(), "x")));
  }
  const std::int64_t classes = rows.size(-1);
  check_labels(labels, classes);
  const at::Tensor flat = rows.reshape({-1, classes});
  const at::Tensor logarithms =
      logits.probabilities ? flat.clamp_min(1e-12).log() : at::log_softmax(flat, 1);
  return at::nll_loss(logarithms, labels.reshape({-1}), {}, at::Reduction::Mean, kIgnored);
}

at::Tensor SampledLabels::labels(const Batch& batch, const at::Tensor& output,
                                 const Logits& logits) {
  const at::Tensor key = first_tensor(batch);
  for (const Entry& entry : entries_) {
    if (entry.key.unsafeGetTensorImpl() == key.unsafeGetTensorImpl()) return entry.labels;
  }
  const at::NoGradGuard no_grad;
  const at::Tensor rows = classes_last(output.detach(), logits);
  // The largest of logit − log(exponential noise) is distributed as the softmax (Gumbel's trick);
  // unlike at::multinomial it takes any number of classes and NaN.
  at::Generator generator = at::detail::createCPUGenerator(seed_ + entries_.size());
  at::Tensor scores =
      at::empty(rows.sizes(), at::dtype(at::kFloat)).exponential_(1, generator).to(rows.device());
  scores.log_().neg_().add_(logits.probabilities ? rows.clamp_min(0).log() : rows);
  entries_.push_back({key, scores.argmax(-1)});
  return entries_.back().labels;
}

}  // namespace hot::models
