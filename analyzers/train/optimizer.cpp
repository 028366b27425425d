#include "analyzers/train/optimizer.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

namespace hot::train {
namespace {

constexpr double kMomentum = 0.9;
constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

/// torch.optim.SGD, dampening 0.
class Sgd : public Optimizer {
 public:
  Sgd(std::vector<at::Tensor> parameters, double rate, double decay)
      : parameters_(std::move(parameters)),
        momentum_(parameters_.size()),
        rate_(rate),
        decay_(decay) {}

  void step() override {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor gradient = parameters_[i].grad();
      if (!gradient.defined()) continue;
      if (decay_ != 0) gradient = gradient.add(parameters_[i], decay_);
      if (!momentum_[i].defined()) {
        momentum_[i] = gradient.clone();
      } else {
        momentum_[i].mul_(kMomentum).add_(gradient);
      }
      parameters_[i].add_(momentum_[i], -rate_);
    }
  }

 private:
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> momentum_;
  double rate_, decay_;
};

/// torch.optim.AdamW.
class AdamW : public Optimizer {
 public:
  AdamW(std::vector<at::Tensor> parameters, double rate, double decay)
      : parameters_(std::move(parameters)),
        states_(parameters_.size()),
        rate_(rate),
        decay_(decay) {}

  void step() override {
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const at::Tensor gradient = parameters_[i].grad();
      if (gradient.defined()) update(parameters_[i], gradient, states_[i]);
    }
  }

 private:
  struct State {
    double steps = 0;
    at::Tensor mean, square;
  };

  void update(at::Tensor& parameter, const at::Tensor& gradient, State& state) const {
    if (!state.mean.defined()) {
      state.mean = at::zeros_like(parameter);
      state.square = at::zeros_like(parameter);
    }
    state.steps += 1;
    if (decay_ != 0) parameter.mul_(1 - rate_ * decay_);
    state.mean.lerp_(gradient, 1 - kBeta1);
    state.square.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
    const double correction1 = 1 - std::pow(kBeta1, state.steps);
    const double correction2 = std::sqrt(1 - std::pow(kBeta2, state.steps));
    const at::Tensor divisor = state.square.sqrt().div(correction2).add_(kEpsilon);
    parameter.addcdiv_(state.mean, divisor, -(rate_ / correction1));
  }

  std::vector<at::Tensor> parameters_;
  std::vector<State> states_;
  double rate_, decay_;
};

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(std::vector<at::Tensor> parameters,
                                          const Options& options) {
  const double rate = rate_of(options);
  if (options.optimizer == "sgd")
    return std::make_unique<Sgd>(std::move(parameters), rate, options.weight_decay);
  return std::make_unique<AdamW>(std::move(parameters), rate, options.weight_decay);
}

double rate_of(const Options& options) {
  if (options.rate > 0) return options.rate;
  return options.optimizer == "sgd" ? 1e-2 : 1e-4;
}

std::string optimizer_text(const Options& options) {
  const std::string name = options.optimizer == "sgd" ? "SGD, momentum 0.9" : "AdamW";
  return fmt::format("{}, rate {:g}, weight decay {:g}", name, rate_of(options),
                     options.weight_decay);
}

}  // namespace hot::train
