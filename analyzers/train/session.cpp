#include "analyzers/train/session.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <algorithm>
#include <optional>

#include "analyzers/train/batch_order.hpp"
#include "analyzers/train/held_out.hpp"
#include "analyzers/train/optimizer.hpp"
#include "analyzers/verify/gradients.hpp"
#include "backward/replace.hpp"
#include "models/forward.hpp"

namespace hot::train {
namespace {

std::vector<at::Tensor> trained(const models::Model& model) {
  std::vector<at::Tensor> tensors;
  for (const models::Parameter& parameter : model.parameters) {
    if (parameter.tensor.requires_grad()) tensors.push_back(parameter.tensor);
  }
  return tensors;
}

/// The numbers that random operators draw, put back where they were.
class GeneratorState {
 public:
  explicit GeneratorState(at::Device device) : generators_{at::detail::getDefaultCPUGenerator()} {
    if (!device.is_cpu()) generators_.push_back(at::globalContext().defaultGenerator(device));
    for (const at::Generator& generator : generators_) states_.push_back(generator.get_state());
  }
  void restore() const {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      at::Generator generator = generators_[i];
      generator.set_state(states_[i]);
    }
  }

 private:
  std::vector<at::Generator> generators_;
  std::vector<at::Tensor> states_;
};

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool compared(std::int64_t step, const Options& options) {
  const std::int64_t every = std::max(1, options.steps / std::max(1, options.angles));
  return options.angles > 0 && step % every == 0;
}

/// The cosine of a planned step's gradients to the exact ones with the same random numbers. The
/// parameters' gradients and the generator are as before afterwards.
double cosine_to_exact(const Setting& setting, backward::Replacement& replacement,
                       const models::Batch& batch, const GeneratorState& before,
                       const models::StepResult& planned) {
  const GeneratorState after(setting.model.device);
  before.restore();
  replacement.pause(true);
  torch::jit::Module other = models::fresh_copy(setting.model);
  const models::StepResult exact = models::step_on(setting.model, other, batch, setting.loss);
  replacement.pause(false);
  after.restore();
  for (std::size_t i = 0; i < planned.gradients.size(); ++i)
    setting.model.parameters[i].tensor.mutable_grad() = planned.gradients[i];
  return verify::compare(exact.gradients, planned.gradients).cosine;
}

}  // namespace

Start::Start(const models::Model& model) : model_(model) {
  for (const models::Parameter& parameter : model.parameters)
    values_.push_back(parameter.tensor.detach().clone());
}

void Start::restore() const {
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    model_.parameters[i].tensor.detach().copy_(values_[i]);
    model_.parameters[i].tensor.mutable_grad().reset();
  }
}

TrainingCurve run(const Setting& setting,
                  const std::map<std::string, backward::LayerSchemes>& planned, std::uint64_t seed,
                  std::vector<TrainingAngle>* angles) {
  const Options& options = setting.options;
  std::optional<backward::Replacement> replacement;
  if (!planned.empty()) replacement.emplace(setting.model, planned, seed);
  torch::jit::Module copy = models::fresh_copy(setting.model);
  const auto optimizer = make_optimizer(trained(setting.model), options);
  models::seed_default_generator(seed, setting.model.device);

  TrainingCurve curve;
  std::vector<double> seconds;
  const auto order = batch_order(std::ssize(setting.data.training), options.steps, seed);
  for (std::int64_t step = 0; step < options.steps; ++step) {
    setting.before_step();
    const auto& batch =
        setting.data.training[static_cast<std::size_t>(order[static_cast<std::size_t>(step)])];
    const GeneratorState before(setting.model.device);
    const models::StepResult result = models::step_on(setting.model, copy, batch, setting.loss);
    curve.losses.push_back(result.loss);
    seconds.push_back(result.forward_seconds + result.backward_seconds);
    if (angles != nullptr && replacement && compared(step, options)) {
      angles->push_back({step, cosine_to_exact(setting, *replacement, batch, before, result)});
    }
    optimizer->step();
  }
  curve.step_seconds = median(std::move(seconds));
  evaluate(setting, copy, curve);
  return curve;
}

}  // namespace hot::train
