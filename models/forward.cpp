#include "models/forward.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>

#include "models/jit.hpp"
#include "models/warnings.hpp"

namespace hot::models {

namespace {

void seed_generator(at::Generator generator, std::uint64_t seed) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace

void seed_default_generator(std::uint64_t seed, at::Device device) {
  seed_generator(at::detail::getDefaultCPUGenerator(), seed);
  if (!device.is_cpu()) seed_generator(at::globalContext().defaultGenerator(device), seed);
}

void move_to(const c10::IValue& value, at::Device device) {
  for_each_tensor(value, [&](const at::Tensor& tensor) {
    if (tensor.device() != device) tensor.set_data(tensor.to(device));
  });
}

c10::IValue run_method(torch::jit::Module& copy, const Model& model,
                       const std::vector<c10::IValue>& inputs) {
  std::vector<c10::IValue> own;
  own.reserve(inputs.size());
  for (const c10::IValue& input : inputs) {
    own.push_back(input.deepcopy());
    move_to(own.back(), model.device);
  }
  return copy.get_method(model.method)(std::move(own));
}

c10::IValue trial_forward(const Model& model, const std::vector<c10::IValue>& inputs,
                          std::uint64_t seed) {
  quiet_jit();
  KeptWarnings thrown_away;
  const at::NoGradGuard no_grad;
  torch::jit::Module copy = fresh_copy(model);
  seed_default_generator(seed, model.device);
  return run_method(copy, model, inputs);
}

}  // namespace hot::models
