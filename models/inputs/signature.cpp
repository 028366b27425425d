#include "models/inputs/signature.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/errors.hpp"

namespace hot::models {
namespace {

c10::TypePtr unwrap(const c10::TypePtr& type) {
  const auto optional = type->cast<c10::OptionalType>();
  return optional ? optional->getElementType() : type;
}

/// Applies `visit` to every tensor inside `spec`, in order.
template <typename Spec, typename Visit>
void for_each_tensor(Spec& spec, const Visit& visit) {
  if (spec.kind == ValueSpec::Kind::tensor) visit(spec);
  for (auto& item : spec.items) for_each_tensor(item, visit);
}

}  // namespace

bool Argument::is_tensor() const {
  return unwrap(type)->kind() == c10::TypeKind::TensorType;
}

std::vector<Argument> method_arguments(const Model& model) {
  const auto method = model.module.find_method(model.method);
  if (!method) {
    std::vector<std::string> names;
    for (const auto& other : model.module.get_methods()) names.push_back(other.name());
    throw ModelError(names.empty()
                         ? fmt::format("the model has no method '{}' nor any other", model.method)
                         : fmt::format("the model has no method '{}'; give --method {}",
                                       model.method, fmt::join(names, " | ")));
  }
  std::vector<Argument> arguments;
  const auto& schema = method->function().getSchema();
  for (std::size_t i = 1; i < schema.arguments().size(); ++i) {
    const auto& from = schema.arguments()[i];
    Argument argument{from.name(), from.type(), from.default_value()};
    if (!argument.default_value && from.type()->kind() == c10::TypeKind::OptionalType) {
      argument.default_value = c10::IValue();
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::string list_arguments(const std::vector<Argument>& arguments) {
  std::vector<std::string> names;
  for (const Argument& a : arguments) {
    names.push_back(fmt::format("{}: {}{}", a.name, a.type->repr_str(),
                                a.default_value ? " (may be left out)" : ""));
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

ArgumentSpecs place(const std::vector<NamedSpec>& given, const std::vector<Argument>& arguments) {
  ArgumentSpecs specs(arguments.size());
  const auto put = [&](std::size_t i, const ValueSpec& value) {
    if (specs[i]) throw UsageError(fmt::format("argument '{}' is given twice", arguments[i].name));
    specs[i] = value;
  };
  for (const NamedSpec& named : given) {
    if (named.name.empty()) continue;
    const auto found = std::find_if(arguments.begin(), arguments.end(),
                                    [&](const Argument& a) { return a.name == named.name; });
    if (found == arguments.end()) {
      throw UsageError(fmt::format("the model has no argument '{}'; it takes {}", named.name,
                                   list_arguments(arguments)));
    }
    put(static_cast<std::size_t>(found - arguments.begin()), named.value);
  }
  std::size_t next = 0;
  for (const NamedSpec& named : given) {
    if (!named.name.empty()) continue;
    while (next < specs.size() && specs[next]) ++next;
    if (next == specs.size()) {
      throw UsageError(fmt::format("{} inputs are given, but the model takes {}: {}", given.size(),
                                   arguments.size(), list_arguments(arguments)));
    }
    put(next, named.value);
  }
  return specs;
}

std::vector<std::size_t> missing(const ArgumentSpecs& specs,
                                 const std::vector<Argument>& arguments) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!specs[i] && !arguments[i].default_value) indices.push_back(i);
  }
  return indices;
}

std::int64_t batch_of(const ArgumentSpecs& specs) {
  std::int64_t batch = 0;
  for (const auto& spec : specs) {
    if (!spec) continue;
    for_each_tensor(*spec, [&](const ValueSpec& tensor) {
      if (batch == 0 && !tensor.shape.empty()) batch = tensor.shape[0];
    });
  }
  return batch;
}

ArgumentSpecs with_batch(ArgumentSpecs specs, std::int64_t batch) {
  const std::int64_t old = batch_of(specs);
  for (auto& spec : specs) {
    if (!spec) continue;
    for_each_tensor(*spec, [&](ValueSpec& tensor) {
      if (!tensor.shape.empty() && tensor.shape[0] == old) tensor.shape[0] = batch;
    });
  }
  return specs;
}

std::string describe(const ArgumentSpecs& specs, const std::vector<Argument>& arguments) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i]) texts.push_back(arguments[i].name + " " + describe(*specs[i]));
  }
  return texts.empty() ? "no inputs" : fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace hot::models
