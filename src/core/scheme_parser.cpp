#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/scheme.hpp"
#include "core/scheme_parts.hpp"

namespace hot {
namespace {

/// True when `text` is written as `pattern`: equal, or the pattern's name before "<" and then
/// digits.
bool has_form(std::string_view text, std::string_view pattern) {
  const auto number = pattern.find('<');
  if (number == std::string_view::npos) return text == pattern;
  const std::string_view digits = text.substr(std::min(number, text.size()));
  return text.starts_with(pattern.substr(0, number)) && !digits.empty() &&
         std::all_of(digits.begin(), digits.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

template <typename Table>
std::string names(const Table& table) {
  std::string list;
  for (const auto& part : table) {
    fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ", part.name);
  }
  return list;
}

/// Refuses `text`, which no row of `table` has: by name if methods.md knows it, else as unknown.
template <typename Table>
[[noreturn]] void refuse(std::string_view part, std::string_view text, const Table& table) {
  for (const UnavailablePart& missing : unavailable_parts()) {
    if (missing.part == part && has_form(text, missing.name)) {
      throw SchemeUnavailable(
          fmt::format("{} '{}' is not available yet; available: {}", part, text, names(table)));
    }
  }
  throw UsageError(fmt::format("unknown {} '{}'; known: {}", part, text, names(table)));
}

template <typename Table>
auto value_in(std::string_view part, std::string_view text, const Table& table) {
  for (const auto& row : table) {
    if (row.name == text) return row.value;
  }
  refuse(part, text, table);
}

Transform read_transform(std::string_view text) {
  for (const TransformPart& part : transform_parts()) {
    if (const auto transform = part.read(text)) return *transform;
  }
  refuse("transform", text, transform_parts());
}

/// The text up to the next of `separators`, which `rest` then starts with (or is empty).
std::string_view take(std::string_view& rest, std::string_view separators) {
  const std::string_view head = rest.substr(0, rest.find_first_of(separators));
  rest.remove_prefix(head.size());
  return head;
}

/// Reads "/granularity[:other]" and "/rounding", each optional, into `scheme`.
void read_options(std::string_view& rest, Scheme& scheme) {
  bool granularity_read = false;
  bool rounding_read = false;
  while (rest.starts_with('/')) {
    rest.remove_prefix(1);
    const std::string_view option = take(rest, "/+");
    const auto& roundings = rounding_parts();
    const bool is_rounding = std::any_of(roundings.begin(), roundings.end(),
                                         [&](const auto& r) { return r.name == option; });
    if (rounding_read) {
      throw UsageError(fmt::format("nothing can follow the rounding, but '{}' does", option));
    }
    if (is_rounding || granularity_read) {
      scheme.rounding = value_in("rounding", option, roundings);
      rounding_read = true;
      continue;
    }
    const auto colon = option.find(':');
    scheme.granularity = value_in("granularity", option.substr(0, colon), granularity_parts());
    if (colon != std::string_view::npos) {
      scheme.other = value_in("granularity", option.substr(colon + 1), granularity_parts());
    }
    granularity_read = true;
  }
}

Scheme read_scheme(std::string_view text) {
  if (text.empty()) {
    throw UsageError("it is empty; write e.g. exact or had16+int4/row/stochastic");
  }
  std::string_view rest = text;
  Scheme scheme;
  const std::string_view transform = take(rest, "+/");
  if (transform == "exact") {
    if (!rest.empty())
      throw UsageError(fmt::format("nothing can follow exact, but '{}' does", rest));
    return scheme;
  }
  scheme.transform = read_transform(transform);
  if (rest.starts_with('+') && !has_form(rest.substr(1), "oe<k>")) {
    rest.remove_prefix(1);
    scheme.format = value_in("format", take(rest, "+/"), format_parts());
    read_options(rest, scheme);
  }
  if (rest.starts_with('/')) {
    throw UsageError(fmt::format("'{}' needs an integer format before it, e.g. {}+int8{}", rest,
                                 transform, rest));
  }
  if (rest.starts_with('+')) {
    rest.remove_prefix(1);
    if (has_form(rest, "oe<k>")) {
      throw SchemeUnavailable(fmt::format("outlier extraction '{}' is not available yet", rest));
    }
    throw UsageError(
        fmt::format("'+{}' is not understood; the order is "
                    "<transform>+<format>/<granularity>/<rounding>",
                    rest));
  }
  return scheme;
}

}  // namespace

Scheme parse_scheme(std::string_view text) {
  try {
    return read_scheme(text);
  } catch (const SchemeUnavailable& error) {
    throw SchemeUnavailable(fmt::format("scheme '{}': {}", text, error.what()));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("scheme '{}': {}", text, error.what()));
  }
}

}  // namespace hot
