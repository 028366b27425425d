#include "core/scheme.hpp"

#include <fmt/format.h>

#include "core/scheme_parts.hpp"

namespace hot {

int bits(Format format) {
  for (const FormatPart& part : format_parts()) {
    if (part.value == format) return part.bits;
  }
  return 0;
}

int max_level(Format format) {
  return format == Format::none ? 0 : (1 << (bits(format) - 1)) - 1;
}

std::string to_string(const Scheme& scheme) {
  if (scheme.is_exact()) return "exact";
  std::string text;
  for (const TransformPart& part : transform_parts()) {
    if (part.value == scheme.transform.kind) text = part.write(scheme.transform);
  }
  if (scheme.format == Format::none) return text;
  fmt::format_to(std::back_inserter(text), "+{}/{}", to_string(scheme.format),
                 to_string(scheme.granularity));
  if (scheme.other != Granularity::tensor) {
    fmt::format_to(std::back_inserter(text), ":{}", to_string(scheme.other));
  }
  return fmt::format("{}/{}", text, to_string(scheme.rounding));
}

std::optional<std::string> why_illegal(const Scheme& scheme, Path path) {
  if (path == Path::forward) {
    if (scheme.is_exact()) return std::nullopt;
    return "forward is never approximated; schemes apply to grad_input and grad_weight";
  }
  if (scheme.format == Format::none) return std::nullopt;
  if (path == Path::grad_input) {
    if (scheme.granularity == Granularity::column) {
      return "grad_input contracts the output channels, so gy can't have a scale per column "
             "(output channel) in one integer product; use tensor or row";
    }
    if (scheme.other == Granularity::row) {
      return "grad_input contracts the output channels, so W can't have a scale per row "
             "(output channel) in one integer product; use tensor or column";
    }
    return std::nullopt;
  }
  if (scheme.granularity == Granularity::row) {
    return "grad_weight contracts the rows, so gy can't have a scale per row (token) in one "
           "integer product; use tensor or column";
  }
  if (scheme.other == Granularity::row) {
    return "grad_weight contracts the rows, so x can't have a scale per row (token) in one "
           "integer product; use tensor or column";
  }
  return std::nullopt;
}

}  // namespace hot
