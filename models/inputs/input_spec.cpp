#include "models/inputs/input_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "core/errors.hpp"

namespace hot::models {
namespace {

/// Values that a dtype can hold exactly enough for a range.
ValueRange limits(const std::string& dtype) {
  static const std::map<std::string, ValueRange> table = {
      {"bool", {0, 1}},
      {"uint8", {0, 255}},
      {"int8", {-128, 127}},
      {"int16", {-32768, 32767}},
      {"int32", {-2147483648.0, 2147483647.0}},
      {"int64", {-9007199254740992.0, 9007199254740992.0}},
      {"float16", {-65504, 65504}},
  };
  const auto found = table.find(dtype);
  constexpr double kHuge = std::numeric_limits<float>::max();
  return found == table.end() ? ValueRange{-kHuge, kHuge} : found->second;
}

std::string number(double value) {
  return fmt::format("{:.10g}", value);
}

}  // namespace

const std::vector<std::string_view>& spec_dtypes() {
  static const std::vector<std::string_view> names = {"float32", "float64", "float16", "bfloat16",
                                                      "int64",   "int32",   "int16",   "int8",
                                                      "uint8",   "bool"};
  return names;
}

ValueSpec tensor_spec(std::string dtype, std::vector<std::int64_t> shape,
                      std::optional<ValueRange> range) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::tensor;
  spec.dtype = std::move(dtype);
  spec.shape = std::move(shape);
  spec.range = range;
  return spec;
}

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(count, size, &count)) {
      throw UsageError(
          fmt::format("a tensor of {} has more elements than can be counted; give smaller sizes",
                      fmt::join(shape, "x")));
    }
  }
  return count;
}

void check_tensor_spec(const ValueSpec& spec) {
  const auto& dtypes = spec_dtypes();
  if (std::find(dtypes.begin(), dtypes.end(), spec.dtype) == dtypes.end()) {
    throw UsageError(
        fmt::format("there is no type '{}'; use one of {}", spec.dtype, fmt::join(dtypes, ", ")));
  }
  for (const std::int64_t size : spec.shape) {
    if (size < 1) {
      throw UsageError(fmt::format("size {} in the shape {}; sizes start at 1", size,
                                   fmt::join(spec.shape, "x")));
    }
  }
  static_cast<void>(element_count(spec.shape));
  if (!spec.range) return;
  const ValueRange allowed = limits(spec.dtype);
  if (!(spec.range->low <= spec.range->high)) {
    throw UsageError(fmt::format("the range {}..{} is empty; write the smaller end first",
                                 number(spec.range->low), number(spec.range->high)));
  }
  if (spec.range->low < allowed.low || spec.range->high > allowed.high) {
    throw UsageError(fmt::format("the range {}..{} does not fit {} ({}..{})",
                                 number(spec.range->low), number(spec.range->high), spec.dtype,
                                 number(allowed.low), number(allowed.high)));
  }
}

std::string describe(const ValueSpec& spec) {
  const auto all = [](const std::vector<ValueSpec>& items) {
    std::vector<std::string> texts;
    texts.reserve(items.size());
    for (const ValueSpec& item : items) texts.push_back(describe(item));
    return texts;
  };
  switch (spec.kind) {
    case ValueSpec::Kind::none:
      return "None";
    case ValueSpec::Kind::integer:
      return fmt::format("{}", spec.integer);
    case ValueSpec::Kind::floating:
      return fmt::format("{}", spec.floating);
    case ValueSpec::Kind::boolean:
      return spec.integer != 0 ? "True" : "False";
    case ValueSpec::Kind::string:
      return fmt::format("\"{}\"", spec.text);
    case ValueSpec::Kind::list:
      return fmt::format("[{}]", fmt::join(all(spec.items), ", "));
    case ValueSpec::Kind::tuple:
      return fmt::format("({})", fmt::join(all(spec.items), ", "));
    case ValueSpec::Kind::dict: {
      std::vector<std::string> texts = all(spec.items);
      for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = spec.keys[i] + ": " + texts[i];
      return fmt::format("{{{}}}", fmt::join(texts, ", "));
    }
    case ValueSpec::Kind::tensor:
      break;
  }
  std::string text =
      spec.dtype + " " +
      (spec.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(spec.shape, "x")));
  if (spec.range) {
    text += fmt::format(" in {}..{}", number(spec.range->low), number(spec.range->high));
  }
  return text;
}

}  // namespace hot::models
