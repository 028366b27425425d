#include "analyzers/profile/optimizer.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "core/errors.hpp"

namespace hot::profile {
namespace {

constexpr double kRate = 1e-6;

std::unique_ptr<torch::optim::Optimizer> make(const std::string& kind,
                                              const std::vector<at::Tensor>& parameters) {
  using torch::optim::Adam;
  using torch::optim::AdamOptions;
  using torch::optim::AdamW;
  using torch::optim::AdamWOptions;
  using torch::optim::SGD;
  using torch::optim::SGDOptions;
  if (kind == "sgd") return std::make_unique<SGD>(parameters, SGDOptions(kRate));
  if (kind == "momentum") return std::make_unique<SGD>(parameters, SGDOptions(kRate).momentum(0.9));
  if (kind == "adam") return std::make_unique<Adam>(parameters, AdamOptions(kRate));
  if (kind == "adamw") return std::make_unique<AdamW>(parameters, AdamWOptions(kRate));
  throw UsageError(
      fmt::format("there is no optimizer '{}'; it can be sgd, momentum, adam or adamw", kind));
}

std::int64_t bytes(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

std::int64_t bytes_of(const torch::optim::OptimizerParamState& state) {
  if (const auto* s = dynamic_cast<const torch::optim::SGDParamState*>(&state))
    return bytes(s->momentum_buffer());
  if (const auto* s = dynamic_cast<const torch::optim::AdamParamState*>(&state))
    return bytes(s->exp_avg()) + bytes(s->exp_avg_sq()) + bytes(s->max_exp_avg_sq());
  if (const auto* s = dynamic_cast<const torch::optim::AdamWParamState*>(&state))
    return bytes(s->exp_avg()) + bytes(s->exp_avg_sq()) + bytes(s->max_exp_avg_sq());
  return 0;
}

}  // namespace

struct Optimizer::State {
  std::vector<at::Tensor> copies;  ///< one per Model::parameters, undefined where frozen
  std::unique_ptr<torch::optim::Optimizer> optimizer;
};

Optimizer::Optimizer(const std::string& kind, const models::Model& model)
    : state_(std::make_unique<State>()) {
  std::vector<at::Tensor> trained;
  for (const models::Parameter& p : model.parameters) {
    state_->copies.emplace_back();
    if (!p.tensor.requires_grad()) continue;
    state_->copies.back() = p.tensor.detach().clone().requires_grad_(true);
    trained.push_back(state_->copies.back());
  }
  if (!trained.empty()) state_->optimizer = make(kind, trained);
}

Optimizer::~Optimizer() = default;

void Optimizer::step(std::vector<at::Tensor>& gradients) {
  if (!state_->optimizer) return;
  for (std::size_t i = 0; i < gradients.size() && i < state_->copies.size(); ++i) {
    if (!gradients[i].defined() || !state_->copies[i].defined()) continue;
    if (gradients[i].layout() != at::kStrided) continue;
    state_->copies[i].mutable_grad() = std::move(gradients[i]);
  }
  state_->optimizer->step();
  state_->optimizer->zero_grad(true);
  gradients.clear();
}

std::int64_t Optimizer::state_bytes() const {
  if (!state_->optimizer) return 0;
  std::int64_t sum = 0;
  for (const auto& [parameter, state] : state_->optimizer->state()) sum += bytes_of(*state);
  return sum;
}

}  // namespace hot::profile
