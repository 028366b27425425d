#include "models/inputs/traced_inputs.hpp"

#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/serialization/import_read.h>

#include "core/errors.hpp"
#include "models/inputs/build_value.hpp"

namespace hot::models {
namespace {

using Kind = ValueSpec::Kind;

std::optional<ValueSpec> spec_of(const c10::IValue& value);

bool add_items(const c10::ArrayRef<c10::IValue>& values, ValueSpec* spec) {
  for (const c10::IValue& value : values) {
    auto item = spec_of(value);
    if (!item) return false;
    spec->items.push_back(std::move(*item));
  }
  return true;
}

std::optional<ValueSpec> tensor(const at::Tensor& value) {
  std::string dtype = dtype_name(value.scalar_type());
  if (dtype.empty()) return std::nullopt;
  // The loader makes every floating parameter float32.
  if (value.is_floating_point()) dtype = "float32";
  for (const std::int64_t size : value.sizes()) {
    if (size < 1) return std::nullopt;
  }
  return tensor_spec(dtype, value.sizes().vec());
}

/// What `value` was, without its contents; nullopt for kinds that the grammar lacks.
std::optional<ValueSpec> spec_of(const c10::IValue& value) {
  ValueSpec spec;
  if (value.isNone()) return spec;
  if (value.isTensor()) return tensor(value.toTensor());
  if (value.isInt()) {
    spec.kind = Kind::integer;
    spec.integer = value.toInt();
  } else if (value.isDouble()) {
    spec.kind = Kind::floating;
    spec.floating = value.toDouble();
  } else if (value.isBool()) {
    spec.kind = Kind::boolean;
    spec.integer = value.toBool() ? 1 : 0;
  } else if (value.isString()) {
    spec.kind = Kind::string;
    spec.text = value.toStringRef();
  } else if (value.isList()) {
    spec.kind = Kind::list;
    const auto list = value.toList();
    const std::vector<c10::IValue> items(list.begin(), list.end());
    if (!add_items(items, &spec)) return std::nullopt;
  } else if (value.isTuple()) {
    spec.kind = Kind::tuple;
    if (!add_items(value.toTupleRef().elements(), &spec)) return std::nullopt;
  } else if (value.isGenericDict()) {
    spec.kind = Kind::dict;
    for (const auto& entry : value.toGenericDict()) {
      auto item = spec_of(entry.value());
      if (!item || !(entry.key().isString() || entry.key().isInt())) return std::nullopt;
      spec.items.push_back(std::move(*item));
      spec.keys.push_back(entry.key().isString() ? entry.key().toStringRef()
                                                 : std::to_string(entry.key().toInt()));
    }
  } else {
    return std::nullopt;
  }
  return spec;
}

std::optional<c10::IValue> read_record(const Model& model) {
  try {
    caffe2::serialize::PyTorchStreamReader reader(model.path);
    if (!reader.hasRecord("traced_inputs.pkl")) return std::nullopt;
    const c10::IValue all = torch::jit::readArchiveAndTensors(
        "traced_inputs", "", "traced_inputs/", std::nullopt, std::nullopt, at::kCPU, reader);
    for (const auto& entry : all.toGenericDict()) {
      if (entry.key().toStringRef() == model.method) return entry.value();
    }
  } catch (const std::exception&) {
    return std::nullopt;  // not a record that this version of torch wrote: the next source is asked
  }
  return std::nullopt;
}

}  // namespace

std::optional<ArgumentSpecs> read_traced_inputs(const Model& model,
                                                const std::vector<Argument>& arguments) {
  if (model.path.empty()) return std::nullopt;
  const std::optional<c10::IValue> value = read_record(model);
  if (!value) return std::nullopt;
  std::optional<ValueSpec> all = spec_of(*value);
  if (!all) return std::nullopt;
  if (all->kind != Kind::tuple && all->kind != Kind::list) {
    ValueSpec only;
    only.kind = Kind::tuple;
    only.items.push_back(std::move(*all));
    all = std::move(only);
  }
  if (all->items.size() > arguments.size()) return std::nullopt;
  ArgumentSpecs specs(arguments.size());
  for (std::size_t i = 0; i < all->items.size(); ++i) specs[i] = std::move(all->items[i]);
  return specs;
}

}  // namespace hot::models
