#include "models/inputs/input_guess.hpp"

#include <algorithm>
#include <cctype>

namespace hot::models {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool contains(const std::string& name, const char* part) {
  return lower(name).find(part) != std::string::npos;
}

}  // namespace

std::optional<Pattern> guess_scalar(const std::string& name, const c10::TypePtr& type) {
  Pattern pattern;
  switch (type->kind()) {
    case c10::TypeKind::IntType:
      pattern.kind = Pattern::Kind::integer;
      pattern.integer = lower(name) == "sr" || contains(name, "rate") ? 16000 : 1;
      return pattern;
    case c10::TypeKind::FloatType:
    case c10::TypeKind::NumberType:
      pattern.kind = Pattern::Kind::floating;
      pattern.floating = 1;
      return pattern;
    case c10::TypeKind::BoolType:
      pattern.kind = Pattern::Kind::boolean;
      return pattern;
    case c10::TypeKind::StringType:
      pattern.kind = Pattern::Kind::string;
      return pattern;
    default:
      return std::nullopt;
  }
}

bool is_padding_mask(const std::string& name) {
  return contains(name, "mask") && contains(name, "pad");
}

bool is_mask(const std::string& name) {
  return contains(name, "mask");
}

std::vector<Pattern> guess_tensor(const std::string& name) {
  const double on = is_padding_mask(name) ? 0 : 1;
  const ValueRange range{on, on};
  if (is_mask(name)) {
    return {tensor_spec("int64", {kBatchSize, kFreeSize}, range),
            tensor_spec("bool", {kBatchSize, kFreeSize}, range),
            tensor_spec("bool", {kFreeSize, kFreeSize}, range),
            tensor_spec("float32", {kFreeSize, kFreeSize}, ValueRange{0, 0})};
  }
  if (contains(name, "label") || contains(name, "target")) {
    return {tensor_spec("int64", {kBatchSize}, ValueRange{0, 1}),
            tensor_spec("int64", {kBatchSize, kFreeSize}, ValueRange{0, 1})};
  }
  if (contains(name, "length")) return {tensor_spec("int64", {kBatchSize}, ValueRange{4, 4})};
  return {tensor_spec("float32", {kBatchSize, 3, kFreeSize, kFreeSize}),
          tensor_spec("float32", {kBatchSize, kFreeSize}),
          tensor_spec("float32", {kBatchSize, kFreeSize, kFreeSize}),
          tensor_spec("float32", {kBatchSize, 1, kFreeSize, kFreeSize})};
}

}  // namespace hot::models
