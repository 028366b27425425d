#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/errors.hpp"
#include "core/scheme.hpp"
#include "core/scheme_parts.hpp"

namespace hot {
namespace {

template <typename Table>
std::string names(const Table& table) {
  std::string list;
  for (const auto& part : table) {
    fmt::format_to(std::back_inserter(list), "{}{}", list.empty() ? "" : ", ", part.name);
  }
  return list;
}

/// Refuses `text`, which no row of `table` has.
template <typename Table>
[[noreturn]] void refuse(std::string_view part, std::string_view text, const Table& table) {
  throw UsageError(fmt::format("unknown {} '{}'; known: {}", part, text, names(table)));
}

template <typename Table>
auto value_in(std::string_view part, std::string_view text, const Table& table) {
  for (const auto& row : table) {
    if (row.name == text) return row.value;
  }
  refuse(part, text, table);
}

/// The number behind `word` in `text`, nullopt where `text` isn't written so. Throws UsageError for
/// one that isn't from 1 to kMaxCount.
std::optional<int> count_after(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  const std::optional<int> count = read_number(text.substr(word.size()));
  if (!count) return std::nullopt;
  if (*count >= 1 && *count <= kMaxCount) return count;
  throw UsageError(fmt::format("'{}': the number is not from 1 to {}", text, kMaxCount));
}

Granularity read_granularity(std::string_view text, Scheme& scheme) {
  const std::optional<int> block = count_after("block", text);
  if (!block) {
    const Granularity value = value_in("granularity", text, granularity_parts());
    if (value == Granularity::block) refuse("granularity", text, granularity_parts());
    return value;
  }
  if (scheme.block != 0 && scheme.block != *block) {
    throw UsageError(fmt::format("both operands' blocks are of the same length, not {} and {}",
                                 scheme.block, *block));
  }
  scheme.block = *block;
  return Granularity::block;
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
    scheme.granularity = read_granularity(option.substr(0, colon), scheme);
    if (colon != std::string_view::npos)
      scheme.other = read_granularity(option.substr(colon + 1), scheme);
    granularity_read = true;
  }
}

/// Reads "+format[:other]" and its options into `scheme`.
void read_format(std::string_view& rest, Scheme& scheme) {
  rest.remove_prefix(1);
  const std::string_view formats = take(rest, "+/");
  const auto colon = formats.find(':');
  scheme.format = value_in("format", formats.substr(0, colon), format_parts());
  if (colon != std::string_view::npos) {
    const Format other = value_in("format", formats.substr(colon + 1), format_parts());
    if (other != scheme.format) scheme.other_format = other;
  }
  read_options(rest, scheme);
  const auto check = [](Format format, Granularity granularity) {
    if (own_block(format) == 0 || granularity == Granularity::tensor) return;
    throw UsageError(fmt::format(
        "{} has a scale per {} of the contraction by itself and takes no other granularity",
        to_string(format), own_block(format)));
  };
  check(scheme.format, scheme.granularity);
  check(scheme.format_of_other(), scheme.other);
}

/// Reads "+oe<k>" into `scheme`.
void read_outliers(std::string_view& rest, Scheme& scheme) {
  const std::optional<int> outliers = count_after("oe", rest.substr(1));
  if (!outliers) {
    throw UsageError(
        fmt::format("'{}' is not understood; the order is "
                    "<transform>+<format>/<granularity>/<rounding>+oe<k>",
                    rest));
  }
  if (scheme.format == Format::none && scheme.transform.kind != Transform::Kind::lowrank)
    throw UsageError(fmt::format("'{}' needs a product that isn't exact to be taken out of", rest));
  scheme.outliers = *outliers;
  rest = {};
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
  if (scheme.transform.kind == Transform::Kind::patch && !rest.empty())
    throw UsageError(fmt::format("patches stay float, nothing can follow, but '{}' does", rest));
  if (rest.starts_with('+') && !count_after("oe", rest.substr(1))) read_format(rest, scheme);
  if (rest.starts_with('/')) {
    throw UsageError(
        fmt::format("'{}' needs a format before it, e.g. {}+int8{}", rest, transform, rest));
  }
  if (rest.starts_with('+')) read_outliers(rest, scheme);
  return scheme;
}

}  // namespace

Scheme parse_scheme(std::string_view text) {
  try {
    return read_scheme(text);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("scheme '{}': {}", text, error.what()));
  }
}

}  // namespace hot
