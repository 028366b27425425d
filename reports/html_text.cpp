#include "reports/html_text.hpp"

namespace hot::reports {
namespace {

/// JSON's own writer knows how to replace what is no UTF-8.
std::string utf8(std::string_view text) {
  const std::string quoted =
      Json(text).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string result;
  for (const char c : utf8(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return result;
}

std::string html_json(const Json& json) {
  std::string result;
  for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)) {
    // Only strings can hold it, and there the escape means the same.
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace hot::reports
