#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "reports/json_text.hpp"

namespace hot::reports {

/// Parses `text` and refuses objects that have a key twice. Throws UsageError naming `where` and
/// the line.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& where);

/// A part of a JSON document that knows its path, so that every refusal says where. All functions
/// throw UsageError.
class JsonPart {
 public:
  JsonPart(const Json& json, std::string where, std::string path = "")
      : json_(&json), where_(std::move(where)), path_(std::move(path)) {}

  /// Refuses anything but an object with all of `required` and else only keys of `optional`.
  void expect_keys(std::initializer_list<std::string_view> required,
                   std::initializer_list<std::string_view> optional = {}) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] JsonPart at(std::string_view key) const;  ///< the key must be there
  [[nodiscard]] JsonPart at(std::size_t index) const;     ///< the index must be in range
  [[nodiscard]] std::size_t array_size() const;           ///< refuses anything but an array

  [[nodiscard]] std::string text() const;
  [[nodiscard]] double number() const;
  [[nodiscard]] std::int64_t integer() const;  ///< 0 or more
  [[nodiscard]] const Json& json() const { return *json_; }

  [[noreturn]] void refuse(const std::string& what) const;

 private:
  const Json* json_;
  std::string where_;
  std::string path_;
};

}  // namespace hot::reports
