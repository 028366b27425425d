#include "models/load/parameters.hpp"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

namespace hot::models {

std::vector<Parameter> module_parameters(const torch::jit::Module& module) {
  std::vector<Parameter> parameters;
  std::unordered_map<const at::TensorImpl*, std::size_t> known;
  for (const auto& named : module.named_parameters(/*recurse=*/true)) {
    if (!named.value.defined()) continue;
    const auto [place, added] = known.emplace(named.value.unsafeGetTensorImpl(), parameters.size());
    if (added) parameters.push_back({.names = {}, .tensor = named.value});
    parameters[place->second].names.push_back(named.name);
  }
  return parameters;
}

std::vector<std::string> convert_to_float32(const torch::jit::Module& module) {
  std::map<std::string, int> changed;
  const at::NoGradGuard no_grad;
  c10::IValue(module._ivalue()).visit([&](const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return false;
    const at::Tensor& tensor = value.toTensor();
    const at::ScalarType type = tensor.scalar_type();
    if (type == at::kHalf || type == at::kBFloat16 || type == at::kDouble) {
      ++changed[c10::toString(type)];
      tensor.set_data(tensor.to(at::kFloat));
    }
    return false;
  });
  std::vector<std::string> notes;
  for (const auto& [type, count] : changed) {
    notes.push_back(
        fmt::format("{} {} tensors of the model were converted to float32", count, type));
  }
  return notes;
}

}  // namespace hot::models
