#include "core/scheme.hpp"

#include <fmt/format.h>

#include <atomic>

#include "core/native_formats.hpp"
#include "core/scheme_parts.hpp"

namespace hot {
namespace {

const FormatPart* part_of(Format format) {
  for (const FormatPart& part : format_parts()) {
    if (part.value == format) return &part;
  }
  return nullptr;
}

std::string text_of(Granularity granularity, int block) {
  return granularity == Granularity::block ? fmt::format("block{}", block)
                                           : std::string(to_string(granularity));
}

/// "/granularity[:other]", or nothing where both formats have blocks of their own.
std::string scales_text(const Scheme& scheme) {
  if (own_block(scheme.format) > 0 && own_block(scheme.format_of_other()) > 0) return "";
  const std::string other = scheme.other == Granularity::tensor
                                ? ""
                                : fmt::format(":{}", text_of(scheme.other, scheme.block));
  return fmt::format("/{}{}", text_of(scheme.granularity, scheme.block), other);
}

/// Why a scale per row of an operand whose rows are contracted can't be.
std::string row_reason(const char* path, const char* operand, const char* what) {
  return fmt::format(
      "{}, so {} can't have a scale per row ({}) in one integer product; use tensor, column or "
      "block<k>",
      path, operand, what);
}

std::optional<std::string> why_no_blocks(const Transform& transform, Path path) {
  if (path == Path::grad_input && transform.span != Span::flat) {
    return fmt::format(
        "grad_input contracts the output channels, whose blocks span no samples; {} is for "
        "grad_weight",
        to_string(transform.span));
  }
  return std::nullopt;
}

std::atomic<bool> native_fp8{false};

/// What FP8 tensor cores and this program's passes on a GPU take.
bool multiplied_as_fp8(const Scheme& scheme) {
  const Transform::Kind kind = scheme.transform.kind;
  return fp8_pair(scheme.format, scheme.format_of_other()) && scheme.block == 0 &&
         scheme.outliers == 0 && kind != Transform::Kind::rht && kind != Transform::Kind::patch &&
         scheme.transform.span == Span::flat;
}

}  // namespace

bool is_integer(Format format) {
  const FormatPart* part = part_of(format);
  return part != nullptr && part->kind == FormatPart::Kind::integer;
}

int own_block(Format format) {
  const FormatPart* part = part_of(format);
  return part == nullptr ? 0 : part->own_block;
}

NativeFp8::NativeFp8() {
  native_fp8 = true;
}

NativeFp8::~NativeFp8() {
  native_fp8 = false;
}

bool is_simulated(const Scheme& scheme) {
  if (scheme.format == Format::none) return false;
  if (native_fp8 && multiplied_as_fp8(scheme)) return false;
  return !is_integer(scheme.format) || scheme.format_of_other() != scheme.format;
}

int bits(Format format) {
  const FormatPart* part = part_of(format);
  return part == nullptr ? 0 : part->bits;
}

int max_level(Format format) {
  return is_integer(format) ? (1 << (bits(format) - 1)) - 1 : 0;
}

std::string to_string(const Scheme& scheme) {
  if (scheme.is_exact()) return "exact";
  std::string text;
  for (const TransformPart& part : transform_parts()) {
    if (part.value == scheme.transform.kind) text = part.write(scheme.transform);
  }
  if (scheme.format != Format::none) {
    fmt::format_to(std::back_inserter(text), "+{}", to_string(scheme.format));
    if (scheme.format_of_other() != scheme.format)
      fmt::format_to(std::back_inserter(text), ":{}", to_string(scheme.other_format));
    fmt::format_to(std::back_inserter(text), "{}/{}", scales_text(scheme),
                   to_string(scheme.rounding));
  }
  if (scheme.outliers > 0) fmt::format_to(std::back_inserter(text), "+oe{}", scheme.outliers);
  return text;
}

std::optional<std::string> why_illegal(const Scheme& scheme, Path path) {
  if (path == Path::forward) {
    if (scheme.is_exact()) return std::nullopt;
    return "forward is never approximated; schemes apply to grad_input and grad_weight";
  }
  if (auto why = why_no_blocks(scheme.transform, path)) return why;
  if (scheme.format == Format::none) return std::nullopt;
  if (path == Path::grad_input) {
    if (scheme.granularity == Granularity::column) {
      return "grad_input contracts the output channels, so gy can't have a scale per column "
             "(output channel) in one integer product; use tensor, row or block<k>";
    }
    if (scheme.other == Granularity::row)
      return row_reason("grad_input contracts the output channels", "W", "output channel");
    return std::nullopt;
  }
  if (scheme.granularity == Granularity::row)
    return row_reason("grad_weight contracts the rows", "gy", "token");
  if (scheme.other == Granularity::row)
    return row_reason("grad_weight contracts the rows", "x", "token");
  return std::nullopt;
}

std::optional<std::string> why_unresolved(const Scheme& scheme) {
  const Transform& t = scheme.transform;
  if (is_resolved(t)) return std::nullopt;
  if (t.kind == Transform::Kind::patch) return "its grid is missing, e.g. 14x14p1";
  if (t.span != Span::flat && t.sample_rows == 0)
    return fmt::format("the rows of a sample are missing, e.g. {}197", to_string(t.span));
  return "the rows that energy keeps are missing, e.g. energy-c3; analysis chooses them";
}

Scheme without_layer(const Scheme& scheme) {
  Scheme general = scheme;
  general.transform = without_layer(scheme.transform);
  return general;
}

}  // namespace hot
