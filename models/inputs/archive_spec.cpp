#include "models/inputs/archive_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/errors.hpp"
#include "models/file/archive.hpp"

namespace hot::models {
namespace {

using nlohmann::json;

constexpr std::string_view kRecord = "extra/hot_inputs.json";
constexpr std::size_t kLongest = 1 << 20;

[[noreturn]] void wrong(const std::string& what) {
  throw ModelError(fmt::format(
      "{} inside the model file: {}; export it again with models/export.py, or give --input",
      kRecord, what));
}

void check_keys(const json& object, std::initializer_list<std::string_view> known,
                const std::string& place) {
  if (!object.is_object()) wrong(place + " is not an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      wrong(fmt::format("{} has an unknown key '{}'", place, key));
    }
  }
}

double finite(const json& value, const std::string& place) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) wrong(place + " is not a number");
  return value.get<double>();
}

std::string text_of(const json& object, const char* key, const std::string& place) {
  if (!object.contains(key) || object[key].is_null()) return "";
  if (!object[key].is_string()) wrong(fmt::format("{}.{} is not a string", place, key));
  return object[key].get<std::string>();
}

ValueSpec tensor_entry(const json& entry, const std::string& place) {
  if (!entry.contains("shape") || !entry["shape"].is_array()) wrong(place + ".shape is not a list");
  std::vector<std::int64_t> shape;
  for (const json& size : entry["shape"]) {
    if (!size.is_number_integer()) wrong(place + ".shape holds something other than integers");
    shape.push_back(size.get<std::int64_t>());
  }
  const std::string dtype = text_of(entry, "dtype", place);
  ValueSpec spec = tensor_spec(dtype.empty() ? "float32" : dtype, std::move(shape));
  const auto has = [&](const char* key) { return entry.contains(key) && !entry[key].is_null(); };
  if (has("low") != has("high")) wrong(place + " has only one of low and high");
  if (has("low")) {
    spec.range =
        ValueRange{finite(entry["low"], place + ".low"), finite(entry["high"], place + ".high")};
  }
  check_tensor_spec(spec);
  return spec;
}

/// The loader makes every floating parameter float32, so the inputs are too.
ValueSpec single_precision(ValueSpec spec) {
  if (spec.dtype.find("float") != std::string::npos) spec.dtype = "float32";
  for (ValueSpec& item : spec.items) item = single_precision(std::move(item));
  return spec;
}

NamedSpec read_entry(const json& entry, const std::string& place) {
  check_keys(entry, {"name", "dtype", "shape", "low", "high", "spec"}, place);
  try {
    const std::string spec = text_of(entry, "spec", place);
    return {text_of(entry, "name", place),
            single_precision(spec.empty() ? tensor_entry(entry, place) : parse_value(spec))};
  } catch (const UsageError& error) {
    wrong(fmt::format("{}: {}", place, error.what()));
  }
}

std::vector<double> numbers(const json& root, const char* key) {
  std::vector<double> values;
  if (!root.contains(key) || root[key].is_null()) return values;
  if (!root[key].is_array()) wrong(fmt::format("{} is not a list", key));
  for (const json& value : root[key]) values.push_back(finite(value, key));
  return values;
}

}  // namespace

ArchiveSpec parse_archive_spec(const std::string& text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) wrong("it is not JSON");
  check_keys(root, {"version", "inputs", "task", "mean", "std"}, "it");
  if (!root.contains("version") || root["version"] != 1) wrong("its version is not 1");
  if (!root.contains("inputs") || !root["inputs"].is_array()) wrong("inputs is not a list");
  ArchiveSpec spec;
  for (std::size_t i = 0; i < root["inputs"].size(); ++i) {
    spec.inputs.push_back(read_entry(root["inputs"][i], fmt::format("inputs[{}]", i)));
  }
  spec.task = text_of(root, "task", "it");
  if (!spec.task.empty() && spec.task != "classification") {
    wrong(fmt::format("its task '{}' is not known (classification, or null)", spec.task));
  }
  spec.mean = numbers(root, "mean");
  spec.std = numbers(root, "std");
  if (spec.mean.size() != spec.std.size()) wrong("mean and std differ in length");
  if (std::any_of(spec.std.begin(), spec.std.end(), [](double s) { return s <= 0; })) {
    wrong("std holds a value that is not positive");
  }
  return spec;
}

std::optional<ArchiveSpec> read_archive_spec(const std::string& path) {
  const auto archive = path.empty() ? nullptr : Archive::open(path);
  if (!archive) return std::nullopt;
  for (const Record& record : archive->records()) {
    // torch puts every record below a folder named after the file.
    const std::size_t slash = record.name.find('/');
    if (slash == std::string::npos || record.name.substr(slash + 1) != kRecord) continue;
    if (record.size > kLongest) wrong("it is longer than 1 MiB");
    return parse_archive_spec(archive->read(record.name, kLongest));
  }
  return std::nullopt;
}

}  // namespace hot::models
