#pragma once

#include <torch/script.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/load/parameters.hpp"
#include "models/model.hpp"

namespace hot::models::testing {

using Tensors = std::vector<std::pair<std::string, at::Tensor>>;

/// A model of parameters and a `forward` in TorchScript's language, as load_model() would hand it
/// over.
inline Model hand_made(const std::string& code, const Tensors& parameters = {}) {
  Model model;
  model.module = torch::jit::Module("m");
  for (const auto& [name, tensor] : parameters) {
    model.module.register_parameter(name, tensor.clone().requires_grad_(tensor.is_floating_point()),
                                    false);
  }
  model.module.define(code + "\n");
  model.parameters = module_parameters(model.module);
  return model;
}

/// A folder of its own for each test; removed at the end.
class Folder {
 public:
  Folder() {
    std::string text = (std::filesystem::temp_directory_path() / "hot_test_XXXXXX").string();
    path_ = mkdtemp(text.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The message of the exception of type `Expected` that `run` throws; "" where it throws none.
template <typename Expected, typename Run>
std::string message_of(const Run& run) {
  try {
    run();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

}  // namespace hot::models::testing
