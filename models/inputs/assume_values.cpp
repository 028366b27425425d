#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>

#include "models/inputs/build_value.hpp"
#include "models/inputs/infer_inputs.hpp"
#include "models/inputs/input_guess.hpp"
#include "models/inputs/input_patterns.hpp"

namespace hot::models {
namespace {

bool lacks_range(const ValueSpec& spec) {
  if (spec.kind == ValueSpec::Kind::tensor) {
    return !spec.range && !c10::isFloatingType(scalar_type(spec.dtype));
  }
  return std::any_of(spec.items.begin(), spec.items.end(), lacks_range);
}

/// The part of `pattern` that stands where item `i` of `spec` does, or nullptr.
const Pattern* part(const Pattern* pattern, const ValueSpec& spec, std::size_t i) {
  if (pattern == nullptr || pattern->kind != spec.kind) return nullptr;
  if (spec.kind == ValueSpec::Kind::dict) {
    const auto key = std::find(pattern->keys.begin(), pattern->keys.end(), spec.keys[i]);
    if (key == pattern->keys.end()) return nullptr;
    i = static_cast<std::size_t>(key - pattern->keys.begin());
  }
  return i < pattern->items.size() ? &pattern->items[i] : nullptr;
}

void give_range(const std::string& name, const Pattern* pattern, ValueSpec* spec) {
  if (spec->kind != ValueSpec::Kind::tensor) {
    for (std::size_t i = 0; i < spec->items.size(); ++i) {
      const std::string& inner = spec->kind == ValueSpec::Kind::dict ? spec->keys[i] : name;
      give_range(inner, part(pattern, *spec, i), &spec->items[i]);
    }
    return;
  }
  if (!lacks_range(*spec)) return;
  if (pattern != nullptr && pattern->kind == ValueSpec::Kind::tensor && pattern->range) {
    spec->range = pattern->range;
  } else if (is_mask(name)) {
    const double on = is_padding_mask(name) ? 0 : 1;
    spec->range = ValueRange{on, on};
  } else {
    spec->range = ValueRange{0, 1};
  }
}

}  // namespace

void assume_values(const Model& model, const std::vector<Argument>& arguments,
                   ArgumentSpecs* specs) {
  const bool needed = std::any_of(specs->begin(), specs->end(),
                                  [](const auto& spec) { return spec && lacks_range(*spec); });
  if (!needed) return;
  const InputPatterns graph(model);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto& spec = (*specs)[i];
    if (!spec || !lacks_range(*spec)) continue;
    const std::vector<Pattern> patterns = graph.of(i);
    give_range(arguments[i].name, patterns.empty() ? nullptr : &patterns[0], &*spec);
  }
}

std::vector<c10::IValue> build_arguments(const ArgumentSpecs& specs,
                                         const std::vector<Argument>& arguments,
                                         std::uint64_t seed) {
  const at::Generator generator = at::detail::createCPUGenerator(seed);
  std::vector<c10::IValue> values;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    values.push_back(specs[i]
                         ? build_value(*specs[i], arguments[i].type, arguments[i].name, generator)
                         : arguments[i].default_value->deepcopy());
  }
  return values;
}

}  // namespace hot::models
