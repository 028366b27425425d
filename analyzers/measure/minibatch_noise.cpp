#include "analyzers/measure/minibatch_noise.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "backward/layer_book.hpp"

namespace hot::measure {
namespace {

double squared_norm(const at::Tensor& t) {
  return t.square().sum(at::kDouble).item<double>();
}

/// Σ‖g_i‖² and ‖Σ g_i‖² of some parameters.
struct Moments {
  double squares = 0;
  double of_sum = 0;

  /// σ; 0 where the mean is zero. Σ‖g_i − ḡ‖² = Σ‖g_i‖² − ‖Σ g_i‖²/B.
  [[nodiscard]] double noise(int batches) const {
    const double b = batches;
    if (of_sum <= 0) return 0;
    const double spread = std::max(0.0, squares - of_sum / b);
    return std::sqrt(spread / (b - 1)) / (std::sqrt(of_sum) / b);
  }
};

}  // namespace

void MinibatchNoise::add(const std::vector<at::Tensor>& gradients) {
  sums_.resize(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) continue;
    const at::Tensor g =
        gradients[i].layout() == at::kStrided ? gradients[i] : gradients[i].to_dense();
    sums_[i].squares += squared_norm(g);
    // The first is taken over, not copied: run_step() hands out its own tensors.
    sums_[i].sum = sums_[i].sum.defined() ? sums_[i].sum.add_(g) : g;
  }
  ++batches_;
}

void MinibatchNoise::write(ErrorTable& table) const {
  if (batches_ < 2) return;
  Moments whole;
  std::map<std::string, Moments> layers;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (!sums_[i].sum.defined()) continue;
    const double of_sum = squared_norm(sums_[i].sum);
    const std::string layer = backward::layer_name_of_parameter(model_.parameters[i].names.front());
    for (Moments* m : {&whole, &layers[layer]}) {
      m->squares += sums_[i].squares;
      m->of_sum += of_sum;
    }
  }
  table.whole.set("minibatch_noise", whole.noise(batches_), Origin::measured);
  for (LayerFacts& facts : table.facts) {
    const auto found = layers.find(facts.layer);
    if (found == layers.end()) continue;
    facts.metrics.set("layer_noise", found->second.noise(batches_), Origin::measured);
  }
  for (ErrorRow& row : table.rows) {
    const Metric* noise = table.fact(row.layer, "layer_noise");
    const Metric* error = row.metrics.find("relative_error");
    if (row.path != Path::grad_weight || noise == nullptr || error == nullptr) continue;
    if (noise->value > 0) {
      row.metrics.set("noise_ratio", error->value / noise->value, Origin::measured);
    }
  }
}

}  // namespace hot::measure
