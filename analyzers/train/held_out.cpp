#include "analyzers/train/held_out.hpp"

#include <ATen/ATen.h>

#include "models/forward.hpp"
#include "models/loss/output_kind.hpp"
#include "models/loss/projection.hpp"
#include "models/model_error.hpp"

namespace hot::train {
namespace {

/// Labels that are classes, and how many of them are the largest logit.
struct Count {
  std::int64_t labels = 0;
  std::int64_t right = 0;

  void add(const c10::IValue& output, const at::Tensor& labels) {
    if (!labels.defined() || at::isFloatingType(labels.scalar_type())) return;
    const auto outputs = models::differentiable_outputs(output);
    const models::LabelFit fit = models::fit_labels(outputs, labels, "auto");
    if (fit.logits.empty()) return;
    const models::Logits& logits = fit.logits.front();
    const at::Tensor classes = models::classes_last(outputs.at(logits.output), logits).argmax(-1);
    const at::Tensor counted = labels.ne(-100);
    this->labels += counted.sum().item<std::int64_t>();
    right +=
        classes.reshape(labels.sizes()).eq(labels).logical_and(counted).sum().item<std::int64_t>();
  }
};

}  // namespace

void evaluate(const Setting& setting, torch::jit::Module& copy, TrainingCurve& curve) {
  if (setting.data.held_out.empty()) return;
  copy.train(false);
  Count count;
  double loss = 0;
  try {
    for (const models::Batch& batch : setting.data.held_out) {
      const c10::IValue output = models::run_method(copy, setting.model, batch.inputs);
      loss += setting.loss(output, batch).item<double>();
      count.add(output, batch.labels);
    }
  } catch (...) {
    models::rethrow_model_error("its forward on held-out data");
  }
  curve.held_out_loss = loss / static_cast<double>(setting.data.held_out.size());
  if (count.labels > 0)
    curve.accuracy = 100.0 * static_cast<double>(count.right) / static_cast<double>(count.labels);
}

}  // namespace hot::train
