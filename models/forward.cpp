#include "models/forward.hpp"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

#include "models/jit.hpp"
#include "models/warnings.hpp"

namespace hot::models {

void seed_default_generator(std::uint64_t seed) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::scoped_lock lock(generator.mutex());
  generator.set_current_seed(seed);
}

c10::IValue run_method(torch::jit::Module& copy, const Model& model,
                       const std::vector<c10::IValue>& inputs) {
  std::vector<c10::IValue> own;
  own.reserve(inputs.size());
  for (const c10::IValue& input : inputs) own.push_back(input.deepcopy());
  return copy.get_method(model.method)(std::move(own));
}

c10::IValue trial_forward(const Model& model, const std::vector<c10::IValue>& inputs,
                          std::uint64_t seed) {
  quiet_jit();
  KeptWarnings thrown_away;
  const at::NoGradGuard no_grad;
  torch::jit::Module copy = fresh_copy(model);
  seed_default_generator(seed);
  return run_method(copy, model, inputs);
}

}  // namespace hot::models
