#include "reports/json_text.hpp"

#include <vector>

namespace hot::reports {
namespace {

constexpr std::size_t kWidth = 100;

std::string scalar(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// `value` as text that starts at column `indent` and is followed by at most one comma.
std::string render(const Json& value, std::size_t indent) {
  if (!value.is_structured() || value.empty()) return scalar(value);
  std::vector<std::string> entries;
  std::size_t length = indent + 3;
  bool one_line = true;
  for (const auto& [key, entry] : value.items()) {
    std::string text = value.is_object() ? scalar(key) + ": " : std::string();
    text += render(entry, indent + 2);
    length += text.size() + 2;
    one_line = one_line && text.find('\n') == std::string::npos;
    entries.push_back(std::move(text));
  }
  one_line = one_line && length <= kWidth;
  const std::string inner = one_line ? std::string() : '\n' + std::string(indent + 2, ' ');
  std::string text(1, value.is_object() ? '{' : '[');
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) text += one_line ? ", " : ",";
    text += inner + entries[i];
  }
  if (!one_line) text += '\n' + std::string(indent, ' ');
  return text + (value.is_object() ? '}' : ']');
}

}  // namespace

std::string json_text(const Json& value) {
  return render(value, 0) + '\n';
}

}  // namespace hot::reports
