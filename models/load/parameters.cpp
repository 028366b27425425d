#include "models/load/parameters.hpp"

#include <fmt/format.h>

#include <array>
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
  struct Type {
    at::ScalarType type;
    const char* name;
    int count = 0;
  };
  std::array<Type, 3> types = {
      {{at::kHalf, "float16"}, {at::kBFloat16, "bfloat16"}, {at::kDouble, "float64"}}};
  const at::NoGradGuard no_grad;
  c10::IValue(module._ivalue()).visit([&](const c10::IValue& value) {
    if (!value.isTensor() || !value.toTensor().defined()) return false;
    const at::Tensor& tensor = value.toTensor();
    for (Type& type : types) {
      if (tensor.scalar_type() != type.type) continue;
      tensor.set_data(tensor.to(at::kFloat));
      ++type.count;
    }
    return false;
  });
  std::vector<std::string> notes;
  for (const Type& type : types) {
    if (type.count == 0) continue;
    notes.push_back(fmt::format("{} {} tensor{} of the model became float32.", type.count,
                                type.name, type.count == 1 ? "" : "s"));
  }
  return notes;
}

}  // namespace hot::models
