#include "models/model.hpp"

namespace hot::models {

torch::jit::Module fresh_copy(const Model& model) {
  // Tensors that the memo already knows are not cloned: the parameters stay the model's own.
  c10::IValue::HashIdentityIValueMap memo;
  for (const Parameter& parameter : model.parameters) {
    if (!parameter.constant) memo.emplace(parameter.tensor, parameter.tensor);
  }
  const c10::IValue copy = c10::IValue(model.module._ivalue()).deepcopy(memo);
  torch::jit::Module module(copy.toObject());
  module.train(true);
  return module;
}

}  // namespace hot::models
