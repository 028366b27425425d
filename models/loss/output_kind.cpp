#include "models/loss/output_kind.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "core/errors.hpp"
#include "models/forward.hpp"
#include "models/inputs/archive_spec.hpp"
#include "models/inputs/input_patterns.hpp"
#include "models/inputs/signature.hpp"

namespace hot::models {
namespace {

bool rows_sum_to_one(const at::Tensor& rows) {
  return rows.ge(0).all().item<bool>() && rows.sum(-1).sub(1).abs().lt(1e-3).all().item<bool>();
}

bool rows_have_unit_norm(const at::Tensor& rows) {
  return rows.norm(2, -1).sub(1).abs().lt(1e-3).all().item<bool>();
}

std::vector<std::int64_t> without(at::IntArrayRef sizes, std::int64_t dimension) {
  std::vector<std::int64_t> rest = sizes.vec();
  rest.erase(rest.begin() + dimension);
  return rest;
}

/// The dimension of the classes when `labels` go with `output`; 1 is tried before the last.
std::optional<std::int64_t> class_dimension(const at::Tensor& output, const at::Tensor& labels) {
  if (output.dim() != labels.dim() + 1 || output.dim() < 2) return std::nullopt;
  for (const std::int64_t dimension : {std::int64_t{1}, output.dim() - 1}) {
    if (output.size(dimension) > 1 &&
        labels.sizes() == at::IntArrayRef(without(output.sizes(), dimension))) {
      return dimension;
    }
  }
  return std::nullopt;
}

Logits make_logits(const std::vector<at::Tensor>& outputs, std::size_t index,
                   std::int64_t dimension) {
  Logits logits{index, dimension, false};
  const at::NoGradGuard no_grad;
  logits.probabilities = rows_sum_to_one(classes_last(outputs[index].detach(), logits));
  return logits;
}

std::string shapes(const std::vector<at::Tensor>& outputs) {
  std::vector<std::string> texts;
  for (const at::Tensor& out : outputs)
    texts.push_back(fmt::format("{}", fmt::join(out.sizes(), "x")));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::int64_t batch_size(const Batch& batch) {
  std::int64_t size = 0;
  for (const c10::IValue& input : batch.inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      if (size == 0 && tensor.dim() > 0) size = tensor.size(0);
    });
  }
  return size;
}

bool takes_tokens(const Batch& batch) {
  bool tokens = false;
  for (const c10::IValue& input : batch.inputs) {
    for_each_tensor(input, [&](const at::Tensor& tensor) {
      tokens = tokens || (tensor.scalar_type() == at::kLong && tensor.dim() >= 1);
    });
  }
  return tokens;
}

/// True where `rows` are those of a vocabulary: of an embedding that an argument meets, or of a
/// table [V, width] with V > width among the parameters.
bool is_vocabulary(const Model& model, std::int64_t rows) {
  const bool wide =
      std::any_of(model.parameters.begin(), model.parameters.end(), [&](const auto& p) {
        return p.tensor.dim() == 2 && p.tensor.size(0) == rows && p.tensor.size(1) < rows;
      });
  if (wide) return true;
  const InputPatterns graph(model);
  for (std::size_t i = 0; i < method_arguments(model).size(); ++i) {
    const std::vector<Pattern> patterns = graph.of(i);
    if (!patterns.empty() && patterns[0].dtype == "int64" && patterns[0].range &&
        patterns[0].range->high == static_cast<double>(rows - 1)) {
      return true;
    }
  }
  return false;
}

std::optional<std::int64_t> guess_dimension(const Model& model, const at::Tensor& output,
                                            const Batch& batch, bool classification) {
  const std::int64_t n = batch_size(batch);
  if (!output.is_floating_point() || output.dim() < 2 || output.size(0) != n) return std::nullopt;
  if (output.dim() == 2 && output.size(1) >= 2) {
    const at::NoGradGuard no_grad;
    const bool embedding = rows_have_unit_norm(output.detach());
    if (classification || !embedding) return 1;
  }
  if (classification && output.dim() >= 4 && output.size(1) >= 2) return 1;
  if (output.dim() == 3 && takes_tokens(batch) && is_vocabulary(model, output.size(2))) return 2;
  return std::nullopt;
}

std::vector<Logits> every_output(const std::vector<at::Tensor>& outputs) {
  std::vector<Logits> all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& out = outputs[i];
    if (!out.is_floating_point() || out.dim() < 2) continue;
    const std::int64_t dimension = out.dim() == 3 ? 2 : 1;
    if (out.size(dimension) >= 2) all.push_back(make_logits(outputs, i, dimension));
  }
  if (all.empty()) {
    throw ModelError(
        fmt::format("--loss cross-entropy needs an output with two or more classes, but the "
                    "outputs are {}; give --loss output",
                    shapes(outputs)));
  }
  return all;
}

}  // namespace

LabelFit fit_labels(const std::vector<at::Tensor>& outputs, const at::Tensor& labels,
                    const std::string& kind) {
  LabelFit fit;
  if (kind != "mse" && !labels.is_floating_point()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto dimension = class_dimension(outputs[i], labels);
      if (dimension) fit.logits.push_back(make_logits(outputs, i, *dimension));
    }
    if (!fit.logits.empty()) return fit;
  }
  const bool squared = kind == "mse" || (kind == "auto" && labels.is_floating_point());
  for (; squared && fit.squared < outputs.size(); ++fit.squared) {
    const at::Tensor& out = outputs[fit.squared];
    if (out.is_floating_point() && out.numel() == labels.numel() &&
        (out.dim() == 0 || labels.dim() == 0 || out.size(0) == labels.size(0))) {
      return fit;
    }
  }
  throw ModelError(fmt::format(
      "labels ({} {}) fit none of the outputs ({}) for --loss {}; give labels that fit with "
      "--labels, or --loss output",
      c10::toString(labels.scalar_type()), fmt::join(labels.sizes(), "x"), shapes(outputs), kind));
}

std::vector<Logits> find_logits(const Model& model, const std::vector<at::Tensor>& outputs,
                                const Batch& batch, const std::string& kind) {
  if (kind == "cross-entropy") return every_output(outputs);
  const auto spec = read_archive_spec(model.path);
  const bool classification = spec && spec->task == "classification";
  std::vector<Logits> all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto dimension = guess_dimension(model, outputs[i], batch, classification);
    if (!dimension) return {};
    all.push_back(make_logits(outputs, i, *dimension));
  }
  return all;
}

}  // namespace hot::models
