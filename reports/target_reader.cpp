#include "reports/target_reader.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "reports/json_text.hpp"

namespace hot::reports {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format(
      "--target {}: {}; it needs \"name\", \"source\", \"float32_flops\", \"int8_ops\", "
      "\"bytes_per_second\" and \"memory_bytes\", and may have \"int4_ops\"",
      path, why));
}

double rate(const Json& json, const std::string& key, const std::string& path) {
  if (!json.contains(key)) refuse(path, fmt::format("\"{}\" is missing", key));
  if (!json[key].is_number() || json[key].get<double>() <= 0)
    refuse(path, fmt::format("\"{}\" is no positive number", key));
  return json[key].get<double>();
}

std::string text_of(const Json& json, const std::string& key, const std::string& path) {
  if (!json.contains(key) || !json[key].is_string())
    refuse(path, fmt::format("\"{}\" is missing or no text", key));
  return json[key].get<std::string>();
}

}  // namespace

TargetRates read_target(const std::string& text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) refuse(path, "this is no JSON object");
  for (const auto& [key, value] : json.items()) {
    if (key != "name" && key != "source" && key != "float32_flops" && key != "int8_ops" &&
        key != "int4_ops" && key != "bytes_per_second" && key != "memory_bytes")
      refuse(path, fmt::format("\"{}\" is not known", key));
  }
  TargetRates rates;
  rates.name = text_of(json, "name", path);
  rates.source = text_of(json, "source", path);
  rates.float32_flops = rate(json, "float32_flops", path);
  rates.int8_ops = rate(json, "int8_ops", path);
  if (json.contains("int4_ops")) rates.int4_ops = rate(json, "int4_ops", path);
  rates.bytes_per_second = rate(json, "bytes_per_second", path);
  rates.memory_bytes = rate(json, "memory_bytes", path);
  return rates;
}

}  // namespace hot::reports
