#include "core/scheme_parts.hpp"

#include <fmt/format.h>

#include <charconv>

namespace hot {
namespace {

/// The number that all of `text` is, or nullopt; a number too large for int reads as the largest
/// int.
std::optional<int> read_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || text[0] == '-' || end != text.data() + text.size()) return std::nullopt;
  return error == std::errc::result_out_of_range ? std::numeric_limits<int>::max() : number;
}

void check_order(int order) {
  const bool power_of_two = order > 0 && (order & (order - 1)) == 0;
  if (power_of_two && order >= kMinOrder && order <= kMaxOrder) return;
  throw UsageError(fmt::format("block order {} is not a power of two from {} to {}", order,
                               kMinOrder, kMaxOrder));
}

std::optional<Transform> read_none(std::string_view text) {
  if (text != "none") return std::nullopt;
  return Transform{};
}

std::string write_none(const Transform&) {
  return "none";
}

std::optional<Transform> read_hadamard(std::string_view text) {
  if (!text.starts_with("had")) return std::nullopt;
  const std::optional<int> order = read_number(text.substr(3));
  if (!order) return std::nullopt;
  check_order(*order);
  return Transform{Transform::Kind::hadamard, *order, *order, Basis::sequency};
}

std::string write_hadamard(const Transform& transform) {
  return fmt::format("had{}", transform.order);
}

Basis read_basis(std::string_view text) {
  for (const auto& basis : basis_parts()) {
    if (text == basis.name) return basis.value;
  }
  std::string known;
  for (const auto& basis : basis_parts()) {
    fmt::format_to(std::back_inserter(known), "{}{}", known.empty() ? "" : ", ", basis.name);
  }
  for (const UnavailablePart& part : unavailable_parts()) {
    if (part.part == "basis" && part.name == text) {
      throw SchemeUnavailable(
          fmt::format("basis '{}' is not available yet; available: {}", text, known));
    }
  }
  throw UsageError(fmt::format("unknown basis '{}'; known: {}", text, known));
}

std::optional<Transform> read_lowrank(std::string_view text) {
  const auto r = text.find('r');
  if (!text.starts_with("low") || r == std::string_view::npos) return std::nullopt;
  const auto dot = text.find('.', r);
  const std::optional<int> order = read_number(text.substr(3, r - 3));
  const auto rank_length = dot == std::string_view::npos ? dot : dot - r - 1;
  const std::optional<int> rank = read_number(text.substr(r + 1, rank_length));
  if (!order || !rank) return std::nullopt;
  check_order(*order);
  if (*rank < 1 || *rank > *order) {
    throw UsageError(fmt::format("rank {} is not from 1 to the block order {}", *rank, *order));
  }
  const Basis basis =
      dot == std::string_view::npos ? Basis::sequency : read_basis(text.substr(dot + 1));
  if (!basis_fits(basis, *order)) {
    throw UsageError(
        fmt::format("basis {} needs a square block order (4, 16, 64, 256, 1024), not {}",
                    to_string(basis), *order));
  }
  return Transform{Transform::Kind::lowrank, *order, *rank, basis};
}

std::string write_lowrank(const Transform& transform) {
  return fmt::format("low{}r{}.{}", transform.order, transform.rank, to_string(transform.basis));
}

template <typename Table, typename Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& part : table) {
    if (part.value == value) return part.name;
  }
  return "none";
}

}  // namespace

const std::vector<TransformPart>& transform_parts() {
  static const std::vector<TransformPart> table = {
      {Transform::Kind::none, "none", "operands as they are", read_none, write_none},
      {Transform::Kind::hadamard, "had<n>",
       "block Hadamard transform of order n along the contraction; exact by itself", read_hadamard,
       write_hadamard},
      {Transform::Kind::lowrank, "low<n>r<r>[.<basis>]",
       "r of the n rows of the Hadamard matrix; the product shrinks to r/n", read_lowrank,
       write_lowrank},
  };
  return table;
}

const std::vector<SchemePart<Basis>>& basis_parts() {
  static const std::vector<SchemePart<Basis>> table = {
      {Basis::sequency, "sequency", "rows with the fewest sign changes first (default)"},
      {Basis::lp_l1, "lp_l1", "low-pass by L1 distance on a snake over a square; n is a square"},
  };
  return table;
}

const std::vector<FormatPart>& format_parts() {
  static const std::vector<FormatPart> table = {
      {Format::int8, "int8", 8, "levels -127 to 127, scaled to the largest magnitude"},
      {Format::int4, "int4", 4, "levels -7 to 7, scaled to the largest magnitude"},
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

const std::vector<UnavailablePart>& unavailable_parts() {
  static const std::vector<UnavailablePart> table = {
      {"transform", "rht<n>", "Hadamard transform with random signs"},
      {"basis", "energy", "the rows that keep most of the product's energy on calibration data"},
      {"format", "fp8e4m3", "8-bit float, 4-bit exponent"},
      {"format", "fp8e5m2", "8-bit float, 5-bit exponent"},
      {"format", "mxfp8", "8-bit float in blocks of 32 with a power-of-two scale"},
      {"format", "mxfp4", "4-bit float in blocks of 32 with a power-of-two scale"},
      {"format", "nvfp4", "4-bit float in blocks of 16 with an 8-bit float scale"},
      {"format", "luq4", "logarithmic unbiased 4-bit"},
      {"granularity", "block<k>", "a scale per k indices of the contraction"},
      {"outlier extraction", "oe<k>", "k largest indices through a float product"},
  };
  return table;
}

std::string_view to_string(Basis basis) {
  return name_in(basis_parts(), basis);
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
  return basis != Basis::lp_l1 || (static_cast<unsigned>(order) & kPowersOfFour) != 0;
}

}  // namespace hot
