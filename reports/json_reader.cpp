#include "reports/json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/errors.hpp"

namespace hot::reports {
namespace {

/// "[json.exception.parse_error.101] parse error at line 2, column 1: …" without the library's own
/// tag.
std::string without_tag(const std::string& message) {
  const auto end = message.find("] ");
  return message.starts_with('[') && end != std::string::npos ? message.substr(end + 2) : message;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where) {
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int /*depth*/, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(value.get<std::string>()).second) {
      throw UsageError(fmt::format("{}: the key '{}' stands twice in one object; keep one of them",
                                   where, value.get<std::string>()));
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("{} is no JSON: {}", where, without_tag(error.what())));
  }
}

void JsonPart::refuse(const std::string& what) const {
  throw UsageError(path_.empty() ? fmt::format("{}: {}", where_, what)
                                 : fmt::format("{}: {}: {}", where_, path_, what));
}

void JsonPart::expect_keys(std::initializer_list<std::string_view> required,
                           std::initializer_list<std::string_view> optional) const {
  if (!json_->is_object()) refuse(fmt::format("should be an object, not {}", json_->type_name()));
  const auto in = [](const auto& list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const auto& [key, value] : json_->items()) {
    if (in(required, key) || in(optional, key)) continue;
    std::vector<std::string_view> known(required);
    known.insert(known.end(), optional.begin(), optional.end());
    refuse(fmt::format("the key '{}' is unknown; known: {}", key, fmt::join(known, ", ")));
  }
  for (const std::string_view key : required) {
    if (!has(key)) refuse(fmt::format("the key '{}' is missing", key));
  }
}

bool JsonPart::has(std::string_view key) const {
  return json_->contains(std::string(key));
}

JsonPart JsonPart::at(std::string_view key) const {
  return {json_->at(std::string(key)), where_,
          path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
}

JsonPart JsonPart::at(std::size_t index) const {
  return {json_->at(index), where_, fmt::format("{}[{}]", path_, index)};
}

std::size_t JsonPart::array_size() const {
  if (!json_->is_array()) refuse(fmt::format("should be an array, not {}", json_->type_name()));
  return json_->size();
}

std::string JsonPart::text() const {
  if (!json_->is_string()) refuse(fmt::format("should be a string, not {}", json_->type_name()));
  return json_->get<std::string>();
}

double JsonPart::number() const {
  if (!json_->is_number()) refuse(fmt::format("should be a number, not {}", json_->type_name()));
  return json_->get<double>();
}

std::int64_t JsonPart::integer() const {
  const bool too_large = json_->is_number_unsigned() &&
                         json_->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX);
  if (!json_->is_number_integer() || too_large || json_->get<std::int64_t>() < 0) {
    refuse(fmt::format("should be an integer of 0 or more, not {}", json_->dump()));
  }
  return json_->get<std::int64_t>();
}

}  // namespace hot::reports
