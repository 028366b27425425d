#include "core/scheme_parts.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <limits>

#include "core/errors.hpp"

namespace hot {
namespace {

void check_order(int order) {
  const bool power_of_two = order > 0 && (order & (order - 1)) == 0;
  if (power_of_two && order >= kMinOrder && order <= kMaxOrder) return;
  throw UsageError(fmt::format("block order {} is not a power of two from {} to {}", order,
                               kMinOrder, kMaxOrder));
}

template <typename Table>
std::string known_names(const Table& table) {
  std::string known;
  for (const auto& part : table)
    fmt::format_to(std::back_inserter(known), "{}{}", known.empty() ? "" : ", ", part.name);
  return known;
}

/// Splits "had16.sample197" into "had16" and its words.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const auto dot = text.find('.');
    words.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    text.remove_prefix(dot + 1);
  }
}

/// Reads `flat`, `sample`, `divisor`, the last two with the rows of a sample behind them once they
/// are known.
bool read_span(std::string_view word, Transform& transform) {
  for (const auto& span : span_parts()) {
    if (!word.starts_with(span.name)) continue;
    const std::string_view rows = word.substr(span.name.size());
    const std::optional<int> number = read_number(rows);
    if (!rows.empty() && (span.value == Span::flat || !number || *number < 1 ||
                          *number == std::numeric_limits<int>::max()))
      return false;
    transform.span = span.value;
    transform.sample_rows = number.value_or(0);
    return true;
  }
  return false;
}

std::string span_text(const Transform& transform) {
  if (transform.span == Span::flat) return "";
  const std::string rows = transform.sample_rows > 0 ? std::to_string(transform.sample_rows) : "";
  return fmt::format(".{}{}", to_string(transform.span), rows);
}

[[noreturn]] void refuse_span(std::string_view word) {
  throw UsageError(fmt::format("unknown span '{}'; known: {}", word, known_names(span_parts())));
}

std::optional<Transform> read_none(std::string_view text) {
  if (text != "none") return std::nullopt;
  return Transform{};
}

std::string write_none(const Transform&) {
  return "none";
}

/// had<n> or rht<n>, with or without a span.
std::optional<Transform> read_full(std::string_view text, std::string_view family,
                                   Transform::Kind kind) {
  if (!text.starts_with(family)) return std::nullopt;
  const auto words = words_of(text.substr(family.size()));
  const std::optional<int> order = read_number(words[0]);
  if (!order) return std::nullopt;
  check_order(*order);
  Transform transform{kind, *order, *order, Basis::sequency};
  if (words.size() > 2 || (words.size() == 2 && !read_span(words[1], transform)))
    refuse_span(text.substr(family.size() + words[0].size() + 1));
  return transform;
}

std::optional<Transform> read_hadamard(std::string_view text) {
  return read_full(text, "had", Transform::Kind::hadamard);
}

std::string write_hadamard(const Transform& transform) {
  return fmt::format("had{}{}", transform.order, span_text(transform));
}

std::optional<Transform> read_rht(std::string_view text) {
  return read_full(text, "rht", Transform::Kind::rht);
}

std::string write_rht(const Transform& transform) {
  return fmt::format("rht{}{}", transform.order, span_text(transform));
}

/// Reads a basis; energy with the mask of kept sequencies behind it once they are chosen.
bool read_basis(std::string_view word, Transform& transform) {
  for (const auto& basis : basis_parts()) {
    if (word == basis.name) {
      transform.basis = basis.value;
      return true;
    }
  }
  constexpr std::string_view kChosen = "energy-";
  if (!word.starts_with(kChosen)) return false;
  const std::string_view mask = word.substr(kChosen.size());
  const auto [end, error] =
      std::from_chars(mask.data(), mask.data() + mask.size(), transform.kept, 16);
  if (error != std::errc() || end != mask.data() + mask.size()) return false;
  const bool inside = transform.order >= 64 || transform.kept >> transform.order == 0;
  if (!inside || std::popcount(transform.kept) != transform.rank) {
    throw UsageError(fmt::format("energy-{} doesn't name {} of the {} rows of a block", mask,
                                 transform.rank, transform.order));
  }
  transform.basis = Basis::energy;
  return true;
}

void check_basis(const Transform& t) {
  if (t.basis == Basis::energy && t.order > kMaxEnergyOrder) {
    throw UsageError(
        fmt::format("basis energy needs a block order up to {}, not {}", kMaxEnergyOrder, t.order));
  }
  if (!basis_fits(t.basis, t.order)) {
    throw UsageError(
        fmt::format("basis {} needs a square block order (4, 16, 64, 256, 1024), not {}",
                    to_string(t.basis), t.order));
  }
  if (t.span == Span::divisor && t.basis != Basis::sequency) {
    throw UsageError(
        fmt::format("divisor finds the block order in each layer, so its basis is sequency, not {}",
                    to_string(t.basis)));
  }
}

std::optional<Transform> read_lowrank(std::string_view text) {
  if (!text.starts_with("low")) return std::nullopt;
  const auto words = words_of(text.substr(3));
  const auto r = words[0].find('r');
  if (r == std::string_view::npos) return std::nullopt;
  const std::optional<int> order = read_number(words[0].substr(0, r));
  const std::optional<int> rank = read_number(words[0].substr(r + 1));
  if (!order || !rank) return std::nullopt;
  check_order(*order);
  if (*rank < 1 || *rank > *order) {
    throw UsageError(fmt::format("rank {} is not from 1 to the block order {}", *rank, *order));
  }
  Transform transform{Transform::Kind::lowrank, *order, *rank, Basis::sequency};
  std::size_t next = 1;
  if (next < words.size() && read_basis(words[next], transform)) ++next;
  if (next < words.size() && read_span(words[next], transform)) ++next;
  if (next < words.size()) {
    throw UsageError(fmt::format("unknown basis '{}'; known: {}, and behind it the span: {}",
                                 words[next], known_names(basis_parts()),
                                 known_names(span_parts())));
  }
  check_basis(transform);
  return transform;
}

std::string write_lowrank(const Transform& transform) {
  const std::string kept = transform.kept != 0 ? fmt::format("-{:x}", transform.kept) : "";
  return fmt::format("low{}r{}.{}{}{}", transform.order, transform.rank, to_string(transform.basis),
                     kept, span_text(transform));
}

/// "14x14" or "14x14p1".
bool read_grid(std::string_view word, Grid& grid) {
  const auto x = word.find('x');
  if (x == std::string_view::npos) return false;
  const auto p = word.find('p', x);
  const auto width = word.substr(x + 1, p == std::string_view::npos ? p : p - x - 1);
  const std::optional<int> rows[] = {
      read_number(word.substr(0, x)), read_number(width),
      p == std::string_view::npos ? std::optional(0) : read_number(word.substr(p + 1))};
  for (const auto& number : rows)
    if (!number || *number > kMaxCount) return false;
  grid = {*rows[2], *rows[0], *rows[1]};
  return grid.height > 0 && grid.width > 0;
}

std::optional<Transform> read_patch(std::string_view text) {
  if (!text.starts_with("patch")) return std::nullopt;
  const auto words = words_of(text.substr(5));
  const auto r = words[0].find('r');
  if (r == std::string_view::npos) return std::nullopt;
  const std::optional<int> side = read_number(words[0].substr(0, r));
  const std::optional<int> rank = read_number(words[0].substr(r + 1));
  if (!side || !rank) return std::nullopt;
  if (*side < kMinOrder || *side > kMaxPatch || (*side & (*side - 1)) != 0) {
    throw UsageError(fmt::format("patch side {} is not a power of two from {} to {}", *side,
                                 kMinOrder, kMaxPatch));
  }
  if (*rank < 1 || *rank > *side * *side) {
    throw UsageError(
        fmt::format("rank {} is not from 1 to the {} functions of a patch", *rank, *side * *side));
  }
  Transform transform{Transform::Kind::patch, *side, *rank, Basis::lp_l1};
  if (words.size() > 2 || (words.size() == 2 && !read_grid(words[1], transform.grid))) {
    throw UsageError(
        fmt::format("unknown grid '{}'; write the rows of a sample as HEIGHTxWIDTH[pPREFIX], or "
                    "leave it to analysis",
                    text.substr(5 + words[0].size() + 1)));
  }
  return transform;
}

std::string write_patch(const Transform& transform) {
  const Grid& grid = transform.grid;
  std::string text = fmt::format("patch{}r{}", transform.order, transform.rank);
  if (grid.height > 0) fmt::format_to(std::back_inserter(text), ".{}x{}", grid.height, grid.width);
  if (grid.prefix > 0) fmt::format_to(std::back_inserter(text), "p{}", grid.prefix);
  return text;
}

template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& part : table) {
    if (part.value == value) return part.name;
  }
  return "none";
}

}  // namespace

std::optional<int> read_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text[0] == '-' || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc::result_out_of_range ? std::numeric_limits<int>::max() : number;
}

const std::vector<TransformPart>& transform_parts() {
  using enum Transform::Kind;
  static const std::vector<TransformPart> table = {
      {none, "none", "operands as they are", read_none, write_none},
      {hadamard, "had<n>[.<span>]",
       "block Hadamard transform of order n along the contraction; exact by itself", read_hadamard,
       write_hadamard},
      {rht, "rht<n>[.<span>]",
       "the same behind a random sign for each index of the contraction, fixed for all runs",
       read_rht, write_rht},
      {lowrank, "low<n>r<r>[.<basis>][.<span>]",
       "r of the n rows of the Hadamard matrix; the product shrinks to r/n", read_lowrank,
       write_lowrank},
      {patch, "patch<n>r<r>[.<grid>]",
       "rows (tokens, pixels) projected in two-dimensional n x n patches onto r of the n*n Walsh "
       "functions, lowest i + j first; float; grad_input is projected back. Analysis fills in the "
       "grid, 14x14p1: 14 x 14 rows of a sample behind 1 of no place",
       read_patch, write_patch},
  };
  return table;
}

const std::vector<SchemePart<Basis>>& basis_parts() {
  static const std::vector<SchemePart<Basis>> table = {
      {Basis::sequency, "sequency", "rows with the fewest sign changes first (default)"},
      {Basis::lp_l1, "lp_l1", "low-pass by L1 distance on a snake over a square; n is a square"},
      {Basis::energy, "energy",
       "the rows that keep most of the product's energy on calibration data; analysis chooses them "
       "for each layer and writes them behind it, energy-c3: sequencies 0, 1, 6, 7; n up to 64"},
  };
  return table;
}

const std::vector<SchemePart<Span>>& span_parts() {
  static const std::vector<SchemePart<Span>> table = {
      {Span::flat, "flat", "blocks of rows that follow each other, across samples (default)"},
      {Span::sample, "sample",
       "blocks start anew and are padded in each sample; grad_weight alone. Analysis writes the "
       "rows of a sample behind it: sample197"},
      {Span::divisor, "divisor",
       "blocks of the largest power of two that divides the rows of a sample, n and r giving their "
       "ratio; grad_weight alone. For 197 or 49 rows it is 1, and nothing is transformed"},
  };
  return table;
}

const std::vector<FormatPart>& format_parts() {
  using enum FormatPart::Kind;
  static const std::vector<FormatPart> table = {
      {Format::int8, "int8", integer, 8, 0, "levels -127 to 127, scaled to the largest magnitude"},
      {Format::int4, "int4", integer, 4, 0, "levels -7 to 7, scaled to the largest magnitude"},
      {Format::fp8e4m3, "fp8e4m3", floating, 8, 0,
       "4 bits of exponent, 3 of mantissa, scaled to 448; simulated"},
      {Format::fp8e5m2, "fp8e5m2", floating, 8, 0,
       "5 bits of exponent, 2 of mantissa, scaled to 57344; simulated"},
      {Format::mxfp8, "mxfp8", floating, 8, 32,
       "fp8e4m3 with a power-of-two scale for 32 of the contraction (OCP MX); simulated"},
      {Format::mxfp4, "mxfp4", floating, 4, 32,
       "2 bits of exponent, 1 of mantissa, with a power-of-two scale for 32 of the contraction "
       "(OCP "
       "MX); simulated"},
      {Format::nvfp4, "nvfp4", floating, 4, 16,
       "2 bits of exponent, 1 of mantissa, with an fp8e4m3 scale for 16 of the contraction and a "
       "float one for all; simulated"},
      {Format::luq4, "luq4", floating, 4, 0,
       "powers of two from 1/64 of the largest magnitude up, unbiased when stochastic (LUQ); "
       "simulated"},
  };
  return table;
}

const std::vector<SchemePart<Granularity>>& granularity_parts() {
  static const std::vector<SchemePart<Granularity>> table = {
      {Granularity::tensor, "tensor", "one scale (default)"},
      {Granularity::row, "row", "a scale per row of gy (token, pixel); grad_input alone"},
      {Granularity::column, "column",
       "a scale per column (output channel of gy, input channel of W or x); for gy grad_weight "
       "alone"},
      {Granularity::block, "block<k>",
       "a scale per k indices of the contraction, each an integer product of its own; the same k "
       "for both operands"},
  };
  return table;
}

const std::vector<SchemePart<Rounding>>& rounding_parts() {
  static const std::vector<SchemePart<Rounding>> table = {
      {Rounding::nearest, "nearest", "half to even (default)"},
      {Rounding::stochastic, "stochastic", "up with the probability of the fraction; for gy alone"},
  };
  return table;
}

std::string_view to_string(Basis basis) {
  return name_in(basis_parts(), basis);
}
std::string_view to_string(Span span) {
  return name_in(span_parts(), span);
}
std::string_view to_string(Format format) {
  return name_in(format_parts(), format);
}
std::string_view to_string(Granularity g) {
  return name_in(granularity_parts(), g);
}
std::string_view to_string(Rounding rounding) {
  return name_in(rounding_parts(), rounding);
}

bool basis_fits(Basis basis, int order) {
  constexpr unsigned kPowersOfFour = 0x55555555U;
  if (basis == Basis::energy) return order <= kMaxEnergyOrder;
  return basis != Basis::lp_l1 || (static_cast<unsigned>(order) & kPowersOfFour) != 0;
}

}  // namespace hot
