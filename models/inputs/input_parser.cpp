#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "core/errors.hpp"
#include "models/inputs/input_spec.hpp"

namespace hot::models {
namespace {

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxDimensions = 16;

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), inner);
}

template <typename T>
bool read_number(std::string_view text, T* value) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, *value);
  return error == std::errc() && stop == end;
}

/// Recursive descent over the grammar in models/README.md.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  ValueSpec whole() {
    ValueSpec spec = value(0);
    if (!rest_.empty()) throw UsageError(fmt::format("'{}' is left over behind the value", rest_));
    return spec;
  }

 private:
  ValueSpec value(int depth) {
    if (depth > kMaxDepth) throw UsageError(fmt::format("nested deeper than {}", kMaxDepth));
    skip_spaces();
    ValueSpec spec;
    if (take('[')) {
      spec.kind = ValueSpec::Kind::list;
      items(&spec, ']', depth, false);
    } else if (take('(')) {
      spec.kind = ValueSpec::Kind::tuple;
      items(&spec, ')', depth, false);
    } else if (take('{')) {
      spec.kind = ValueSpec::Kind::dict;
      items(&spec, '}', depth, true);
    } else if (rest_.starts_with("str:")) {
      rest_.remove_prefix(4);
      spec.kind = ValueSpec::Kind::string;
      spec.text = text(depth);
    } else {
      spec = atom(until(depth == 0 ? "" : ",])}"));
    }
    skip_spaces();
    return spec;
  }

  void items(ValueSpec* spec, char close, int depth, bool keyed) {
    skip_spaces();
    if (take(close)) return;
    for (;;) {
      if (keyed) spec->keys.push_back(key());
      spec->items.push_back(value(depth + 1));
      if (take(close)) return;
      if (!take(','))
        throw UsageError(fmt::format("',' or '{}' is missing before '{}'", close, rest_));
    }
  }

  std::string key() {
    skip_spaces();
    const std::size_t colon = rest_.find(':');
    const std::string_view name = rest_.substr(0, colon);
    if (colon == std::string_view::npos || name.empty() ||
        name.find_first_of(",[](){}") != std::string_view::npos) {
      throw UsageError(fmt::format("'{}' has no key; write {{KEY:value}}", rest_));
    }
    rest_.remove_prefix(colon + 1);
    return std::string(name);
  }

  /// A string: quoted, or up to the next separator (inside a container) or the end.
  std::string text(int depth) {
    if (!take('"')) return std::string(until(depth == 0 ? "" : ",])}"));
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) throw UsageError("the closing quote is missing");
    std::string result(rest_.substr(0, quote));
    rest_.remove_prefix(quote + 1);
    return result;
  }

  static ValueSpec atom(std::string_view text) {
    if (text.empty()) throw UsageError("a value is missing; write sizes as 8x3x224x224");
    ValueSpec spec;
    if (text == "none" || text == "None") return spec;
    const std::size_t colon = text.find(':');
    const std::string_view head = text.substr(0, colon);
    const std::string_view tail =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (head == "int") return integer(tail);
    if (head == "float") return floating(tail);
    if (head == "bool" && (tail == "true" || tail == "false")) {
      spec.kind = ValueSpec::Kind::boolean;
      spec.integer = tail == "true" ? 1 : 0;
      return spec;
    }
    const bool typed =
        !head.empty() && (head[0] < '0' || head[0] > '9') && head[0] != '-' && head != "scalar";
    return tensor(typed ? std::string(head) : "float32", typed ? tail : text);
  }

  static ValueSpec integer(std::string_view text) {
    ValueSpec spec;
    spec.kind = ValueSpec::Kind::integer;
    if (!read_number(text, &spec.integer)) {
      throw UsageError(fmt::format("'{}' is not an integer; write int:16000", text));
    }
    return spec;
  }

  static ValueSpec floating(std::string_view text) {
    ValueSpec spec;
    spec.kind = ValueSpec::Kind::floating;
    if (!read_number(text, &spec.floating)) {
      throw UsageError(fmt::format("'{}' is not a number; write float:0.5", text));
    }
    return spec;
  }

  static ValueSpec tensor(std::string dtype, std::string_view text) {
    const std::size_t colon = text.find(':');
    ValueSpec spec = tensor_spec(std::move(dtype), {});
    const auto& known = spec_dtypes();
    if (std::find(known.begin(), known.end(), spec.dtype) == known.end()) check_tensor_spec(spec);
    spec.shape = shape(text.substr(0, colon));
    if (colon != std::string_view::npos) spec.range = range(text.substr(colon + 1));
    check_tensor_spec(spec);
    return spec;
  }

  static std::vector<std::int64_t> shape(std::string_view text) {
    if (text == "scalar") return {};
    std::vector<std::int64_t> sizes;
    for (std::string_view rest = text;;) {
      const std::size_t cross = rest.find('x');
      std::int64_t size = 0;
      if (!read_number(rest.substr(0, cross), &size)) {
        throw UsageError(fmt::format("'{}' is not a shape; write sizes as 8x3x224x224", text));
      }
      sizes.push_back(size);
      if (cross == std::string_view::npos) break;
      rest.remove_prefix(cross + 1);
    }
    if (sizes.size() > kMaxDimensions) {
      throw UsageError(
          fmt::format("a shape of {} dimensions; at most {}", sizes.size(), kMaxDimensions));
    }
    return sizes;
  }

  static ValueRange range(std::string_view text) {
    const std::size_t dots = text.find("..");
    ValueRange range;
    if (dots == std::string_view::npos || !read_number(text.substr(0, dots), &range.low) ||
        !read_number(text.substr(dots + 2), &range.high) || !std::isfinite(range.low) ||
        !std::isfinite(range.high)) {
      throw UsageError(
          fmt::format("'{}' is not a range; write LOW..HIGH, both ends included", text));
    }
    return range;
  }

  /// Takes what stands before the first of `stops`, or everything where `stops` is empty.
  std::string_view until(std::string_view stops) {
    const std::size_t end = stops.empty() ? std::string_view::npos : rest_.find_first_of(stops);
    std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(taken.size());
    while (taken.ends_with(' ')) taken.remove_suffix(1);
    return taken;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void skip_spaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

}  // namespace

ValueSpec parse_value(std::string_view text) {
  return Parser(text).whole();
}

NamedSpec parse_input(std::string_view text) {
  try {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !is_name(text.substr(0, equals))) {
      if (text.starts_with('=')) throw UsageError("the name before '=' is missing");
      return {"", parse_value(text)};
    }
    return {std::string(text.substr(0, equals)), parse_value(text.substr(equals + 1))};
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--input '{}': {}", text, error.what()));
  }
}

}  // namespace hot::models
