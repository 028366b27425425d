#include "models/inputs/build_value.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "core/errors.hpp"

namespace hot::models {
namespace {

using Kind = ValueSpec::Kind;

constexpr std::array<std::pair<const char*, at::ScalarType>, 10> kTypes = {{
    {"float32", at::kFloat},
    {"float64", at::kDouble},
    {"float16", at::kHalf},
    {"bfloat16", at::kBFloat16},
    {"int64", at::kLong},
    {"int32", at::kInt},
    {"int16", at::kShort},
    {"int8", at::kChar},
    {"uint8", at::kByte},
    {"bool", at::kBool},
}};

double machine_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

[[noreturn]] void mismatch(const std::string& name, const c10::TypePtr& type, const ValueSpec& spec,
                           const std::string& right) {
  throw UsageError(fmt::format("argument '{}' is a {}, not {}; give {}", name, type->repr_str(),
                               describe(spec), right));
}

class Builder {
 public:
  explicit Builder(at::Generator generator) : generator_(std::move(generator)) {}

  c10::IValue build(const ValueSpec& spec, const c10::TypePtr& type,
                    const std::string& name) const {
    switch (type->kind()) {
      case c10::TypeKind::OptionalType:
        if (spec.kind == Kind::none) return {};
        return build(spec, type->expectRef<c10::OptionalType>().getElementType(), name);
      case c10::TypeKind::TensorType:
        return tensor(spec, type, name);
      case c10::TypeKind::IntType:
        if (spec.kind == Kind::integer) return spec.integer;
        mismatch(name, type, spec, fmt::format("--input {}=int:N", name));
      case c10::TypeKind::FloatType:
        if (spec.kind == Kind::floating) return spec.floating;
        if (spec.kind == Kind::integer) return static_cast<double>(spec.integer);
        mismatch(name, type, spec, fmt::format("--input {}=float:X", name));
      case c10::TypeKind::NumberType:
        if (spec.kind == Kind::floating) return spec.floating;
        if (spec.kind == Kind::integer) return spec.integer;
        mismatch(name, type, spec, fmt::format("--input {}=float:X", name));
      case c10::TypeKind::BoolType:
        if (spec.kind == Kind::boolean) return spec.integer != 0;
        mismatch(name, type, spec, fmt::format("--input {}=bool:true", name));
      case c10::TypeKind::StringType:
        if (spec.kind == Kind::string) return spec.text;
        mismatch(name, type, spec, fmt::format("--input {}=str:TEXT", name));
      case c10::TypeKind::DeviceObjType:
        if (spec.kind == Kind::string && spec.text == "cpu") return c10::Device(c10::kCPU);
        mismatch(name, type, spec, fmt::format("--input {}=str:cpu", name));
      case c10::TypeKind::NoneType:
        if (spec.kind == Kind::none) return {};
        mismatch(name, type, spec, fmt::format("--input {}=none", name));
      case c10::TypeKind::ListType:
        return list(spec, type, name);
      case c10::TypeKind::TupleType:
        return tuple(spec, type, name);
      case c10::TypeKind::DictType:
        return dict(spec, type, name);
      case c10::TypeKind::UnionType:
        return union_member(spec, type, name);
      case c10::TypeKind::AnyType:
        return build(spec, natural(spec), name);
      default:
        throw UsageError(fmt::format(
            "argument '{}' has the type {}, which can't be given; export a method without it", name,
            type->repr_str()));
    }
  }

 private:
  c10::IValue tensor(const ValueSpec& spec, const c10::TypePtr& type,
                     const std::string& name) const {
    switch (spec.kind) {
      case Kind::tensor:
        return random_tensor(spec, generator_);
      case Kind::integer:
        return at::scalar_tensor(spec.integer, at::kLong);
      case Kind::floating:
        return at::scalar_tensor(spec.floating, at::kFloat);
      case Kind::boolean:
        return at::scalar_tensor(spec.integer != 0, at::kBool);
      default:
        mismatch(name, type, spec, fmt::format("--input {}=TYPE:SHAPE", name));
    }
  }

  c10::IValue list(const ValueSpec& spec, const c10::TypePtr& type, const std::string& name) const {
    if (spec.kind != Kind::list && spec.kind != Kind::tuple) {
      mismatch(name, type, spec, fmt::format("--input '{}=[VALUE,…]'", name));
    }
    const auto& element = type->expectRef<c10::ListType>().getElementType();
    c10::impl::GenericList values(element);
    for (std::size_t i = 0; i < spec.items.size(); ++i) {
      values.push_back(build(spec.items[i], element, fmt::format("{}[{}]", name, i)));
    }
    return values;
  }

  c10::IValue tuple(const ValueSpec& spec, const c10::TypePtr& type,
                    const std::string& name) const {
    const auto tuple_type = type->expect<c10::TupleType>();
    const auto elements = tuple_type->elements();
    if ((spec.kind != Kind::list && spec.kind != Kind::tuple) ||
        spec.items.size() != elements.size()) {
      mismatch(name, type, spec,
               fmt::format("--input '{}=(VALUE,…)' with {} values", name, elements.size()));
    }
    std::vector<c10::IValue> values;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      values.push_back(build(spec.items[i], elements[i], fmt::format("{}[{}]", name, i)));
    }
    if (tuple_type->schema()) return c10::ivalue::Tuple::createNamed(std::move(values), tuple_type);
    return c10::ivalue::Tuple::create(std::move(values));
  }

  c10::IValue dict(const ValueSpec& spec, const c10::TypePtr& type, const std::string& name) const {
    if (spec.kind != Kind::dict) {
      mismatch(name, type, spec, fmt::format("--input '{}={{KEY:VALUE,…}}'", name));
    }
    const auto& dict_type = type->expectRef<c10::DictType>();
    c10::impl::GenericDict values(dict_type.getKeyType(), dict_type.getValueType());
    for (std::size_t i = 0; i < spec.items.size(); ++i) {
      values.insert(key(spec.keys[i], dict_type.getKeyType(), name),
                    build(spec.items[i], dict_type.getValueType(),
                          fmt::format("{}[{}]", name, spec.keys[i])));
    }
    return values;
  }

  static c10::IValue key(const std::string& text, const c10::TypePtr& type,
                         const std::string& name) {
    if (type->kind() == c10::TypeKind::StringType) return text;
    if (type->kind() == c10::TypeKind::IntType) {
      const ValueSpec number = parse_value("int:" + text);
      return number.integer;
    }
    throw UsageError(fmt::format(
        "argument '{}' has keys of type {}, which can't be given; only str and int keys can", name,
        type->repr_str()));
  }

  c10::IValue union_member(const ValueSpec& spec, const c10::TypePtr& type,
                           const std::string& name) const {
    for (const auto& member : type->expectRef<c10::UnionType>().containedTypes()) {
      if (natural(spec)->kind() == member->kind()) return build(spec, member, name);
    }
    mismatch(name, type, spec, "a value of one of these types");
  }

  /// The type that a value has of its own, for arguments that take anything.
  static c10::TypePtr natural(const ValueSpec& spec) {
    switch (spec.kind) {
      case Kind::none:
        return c10::NoneType::get();
      case Kind::tensor:
        return c10::TensorType::get();
      case Kind::integer:
        return c10::IntType::get();
      case Kind::floating:
        return c10::FloatType::get();
      case Kind::boolean:
        return c10::BoolType::get();
      case Kind::string:
        return c10::StringType::get();
      case Kind::list:
        return c10::ListType::create(spec.items.empty() ? c10::TensorType::get()
                                                        : natural(spec.items[0]));
      case Kind::dict:
        return c10::DictType::create(c10::StringType::get(), spec.items.empty()
                                                                 ? c10::TensorType::get()
                                                                 : natural(spec.items[0]));
      case Kind::tuple: {
        std::vector<c10::TypePtr> elements;
        for (const ValueSpec& item : spec.items) elements.push_back(natural(item));
        return c10::TupleType::create(std::move(elements));
      }
    }
    return c10::NoneType::get();
  }

  at::Generator generator_;
};

}  // namespace

at::ScalarType scalar_type(const std::string& dtype) {
  for (const auto& [name, type] : kTypes) {
    if (dtype == name) return type;
  }
  throw UsageError(fmt::format("there is no type '{}'", dtype));
}

std::string dtype_name(at::ScalarType type) {
  for (const auto& [name, other] : kTypes) {
    if (type == other) return name;
  }
  return "";
}

at::Tensor random_tensor(const ValueSpec& spec, at::Generator generator) {
  check_tensor_spec(spec);
  const at::ScalarType type = scalar_type(spec.dtype);
  const double bytes =
      static_cast<double>(element_count(spec.shape)) * static_cast<double>(c10::elementSize(type));
  if (bytes > machine_bytes()) {
    throw UsageError(fmt::format(
        "a tensor of {} needs {:.4g} GB, and this machine has {:.4g} GB; give smaller sizes",
        describe(spec), bytes / 1e9, machine_bytes() / 1e9));
  }
  const bool floating = c10::isFloatingType(type);
  if (!spec.range && floating) {
    return at::randn(spec.shape, std::move(generator), at::dtype(at::kFloat)).to(type);
  }
  const ValueRange range = spec.range.value_or(ValueRange{0, 1});
  if (floating) {
    return at::rand(spec.shape, std::move(generator), at::dtype(at::kFloat))
        .mul_(range.high - range.low)
        .add_(range.low)
        .to(type);
  }
  return at::randint(static_cast<std::int64_t>(range.low),
                     static_cast<std::int64_t>(range.high) + 1, spec.shape, std::move(generator),
                     at::dtype(at::kLong))
      .to(type);
}

c10::IValue build_value(const ValueSpec& spec, const c10::TypePtr& type, const std::string& name,
                        const at::Generator& generator) {
  return Builder(generator).build(spec, type, name);
}

}  // namespace hot::models
