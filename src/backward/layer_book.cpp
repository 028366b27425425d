#include "backward/layer_book.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/runtime/interpreter.h>

namespace hot::backward {

LayerBook::LayerBook(const models::Model& model) {
  for (std::size_t i = 0; i < model.parameters.size(); ++i) {
    const auto& p = model.parameters[i];
    names_.push_back(layer_name_of_parameter(p.names.front()));
    if (!p.tensor.has_storage() || p.tensor.numel() == 0) continue;
    std::int64_t last = p.tensor.storage_offset();
    for (std::int64_t d = 0; d < p.tensor.dim(); ++d) {
      last += (p.tensor.size(d) - 1) * p.tensor.stride(d);
    }
    by_storage_[p.tensor.storage().unsafeGetStorageImpl()].push_back(
        {static_cast<int>(i), p.tensor.storage_offset(), last + 1});
  }
}

int LayerBook::parameter_of(const at::Tensor& tensor) const {
  if (!tensor.defined() || !tensor.has_storage()) return -1;
  const auto found = by_storage_.find(tensor.storage().unsafeGetStorageImpl());
  if (found == by_storage_.end()) return -1;
  for (const auto& entry : found->second) {
    if (tensor.storage_offset() >= entry.begin && tensor.storage_offset() < entry.end) {
      return entry.parameter;
    }
  }
  return -1;
}

const std::string& LayerBook::layer_name(int parameter) const {
  return names_.at(static_cast<std::size_t>(parameter));
}

bool LayerBook::is_parameter_storage(const c10::StorageImpl* storage) const {
  return by_storage_.contains(storage);
}

std::string layer_name_of_parameter(const std::string& parameter) {
  constexpr std::string_view suffix = ".weight";
  if (parameter.size() > suffix.size() && parameter.ends_with(suffix)) {
    return parameter.substr(0, parameter.size() - suffix.size());
  }
  return parameter;
}

namespace {

/// Children of `module` named `name`: its own, or those of containers (ModuleList, ModuleDict)
/// inside it, which never run themselves and so don't show in the interpreter's stack.
void find_children(const torch::jit::Module& module, const std::string& name,
                   const std::string& prefix,
                   std::vector<std::pair<std::string, torch::jit::Module>>& found) {
  for (const auto& child : module.named_children()) {
    const auto path = prefix.empty() ? child.name : prefix + "." + child.name;
    if (child.name == name) found.emplace_back(path, child.value);
    if (!child.value.find_method("forward")) find_children(child.value, name, path, found);
  }
}

}  // namespace

std::string full_path(const torch::jit::Module& root, const std::vector<std::string>& parts) {
  std::vector<std::pair<std::string, torch::jit::Module>> candidates{{"", root}};
  for (const auto& part : parts) {
    std::vector<std::pair<std::string, torch::jit::Module>> next;
    for (const auto& [path, module] : candidates) {
      const auto before = next.size();
      find_children(module, part, path, next);
      const bool own = before < next.size() &&
                       next[before].first.find('.', path.size() + 1) == std::string::npos;
      if (own) next.resize(before + 1);  // a child of its own hides those inside containers
    }
    candidates = std::move(next);
  }
  return candidates.size() == 1 ? candidates.front().first
                                : fmt::format("{}", fmt::join(parts, "."));
}

std::vector<std::string> current_modules() {
  // Entries read "name(Type)::method"; the first is the top module, SELF another method of the same
  // one.
  std::vector<std::string> names;
  const auto parts = torch::jit::currentModuleHierarchy();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto name = parts[i].substr(0, parts[i].find('('));
    if (!name.empty() && name != "SELF" && name != "?") names.push_back(std::move(name));
  }
  return names;
}

}  // namespace hot::backward
