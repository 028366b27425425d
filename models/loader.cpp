#include <torch/script.h>

#include "core/errors.hpp"
#include "models/constants.hpp"
#include "models/jit.hpp"
#include "models/model.hpp"
#include "models/parameters.hpp"

namespace hot::models {

Model load_model(const LoadOptions& options) {
  Model model;
  model.path = options.path;
  model.method = options.method;
  model.module = torch::jit::load(options.path, at::kCPU);
  const auto method = model.module.find_method(options.method);
  if (!method) throw ModelError("no method");
  const std::shared_ptr<torch::jit::Graph> graph = method->graph();
  inline_all(*graph);
  model.notes = convert_to_float32(model.module);
  model.parameters = module_parameters(model.module);
  for (Parameter& constant : trainable_constants(*graph)) model.parameters.push_back(constant);
  quiet_jit();
  return model;
}

std::int64_t Model::scalar_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters) count += parameter.tensor.numel();
  return count;
}

}  // namespace hot::models
