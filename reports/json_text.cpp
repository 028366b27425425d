#include "reports/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hot::reports {
namespace {

constexpr std::size_t kWidth = 100;

void append_string(const std::string& text, std::string& out) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
  });
  out += plain ? fmt::format("\"{}\"", text)
               : Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The shortest text that reads back as the same number, and as no integer.
void append_float(double value, std::string& out) {
  const std::string text = fmt::format("{}", value);
  out += text;
  if (text.find_first_of(".e") == std::string::npos) out += ".0";
}

/// Scalars, and arrays and objects without entries.
void append_leaf(const Json& value, std::string& out) {
  if (value.is_string()) {
    append_string(value.get_ref<const std::string&>(), out);
  } else if (value.is_number_float()) {
    append_float(value.get<double>(), out);
  } else {
    out += value.dump();
  }
}

/// Calls `entry(key or nullptr, value, is_first)` for each entry of an array or object, until it
/// returns false.
template <typename Entry>
bool for_each_entry(const Json& value, Entry entry) {
  bool first = true;
  if (const auto* object = value.get_ptr<const Json::object_t*>()) {
    for (const auto& [key, child] : *object) {
      if (!entry(&key, child, first)) return false;
      first = false;
    }
    return true;
  }
  for (const Json& child : value.get_ref<const Json::array_t&>()) {
    if (!entry(nullptr, child, first)) return false;
    first = false;
  }
  return true;
}

void append_key(const std::string* key, std::string& out) {
  if (key == nullptr) return;
  append_string(*key, out);
  out += ": ";
}

/// Appends `value` on one line; false, with `out` spoilt, as soon as `out` would exceed `limit`.
bool append_on_one_line(const Json& value, std::size_t limit, std::string& out) {
  if (!value.is_structured() || value.empty()) {
    append_leaf(value, out);
    return out.size() <= limit;
  }
  out += value.is_object() ? '{' : '[';
  const bool fits =
      for_each_entry(value, [&](const std::string* key, const Json& child, bool first) {
        if (!first) out += ", ";
        append_key(key, out);
        return append_on_one_line(child, limit, out);
      });
  out += value.is_object() ? '}' : ']';
  return fits && out.size() <= limit;
}

/// Appends `value`, whose first line starts in column `column` and the others at `indent`; a comma
/// may follow.
void append(const Json& value, std::size_t indent, std::size_t column, std::string& out) {
  if (!value.is_structured() || value.empty()) {
    append_leaf(value, out);
    return;
  }
  const std::size_t start = out.size();
  if (column + 1 < kWidth && append_on_one_line(value, start + kWidth - column - 1, out)) return;
  out.resize(start);
  out += value.is_object() ? '{' : '[';
  for_each_entry(value, [&](const std::string* key, const Json& child, bool first) {
    out += first ? "\n" : ",\n";
    const std::size_t line = out.size();
    out.append(indent + 2, ' ');
    append_key(key, out);
    append(child, indent + 2, out.size() - line, out);
    return true;
  });
  out += '\n';
  out.append(indent, ' ');
  out += value.is_object() ? '}' : ']';
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  append(value, 0, 0, out);
  out += '\n';
  return out;
}

}  // namespace hot::reports
