#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scheme.hpp"

namespace hot {

/// A value that a scheme can take, as it is written, and one line about it.
template <typename Value>
struct SchemePart {
  Value value;
  std::string_view name;
  std::string_view description;
};

/// A number format, `bits` wide. An integer one has the levels -(2^(bits-1)-1) … 2^(bits-1)-1; the
/// others are rounded to their numbers by kernels/formats. `own_block`: see own_block().
struct FormatPart {
  enum class Kind { integer, floating };
  Format value;
  std::string_view name;
  Kind kind;
  int bits;
  int own_block;
  std::string_view description;
};

/// A family of transforms, and how its members are read and written.
struct TransformPart {
  Transform::Kind value;
  std::string_view name;  ///< pattern, e.g. "had<n>"
  std::string_view description;
  /// The transform written as `text`, or nullopt when `text` is of another family. Throws
  /// UsageError (a phrase without the scheme's text) when the family is right and the numbers are
  /// not.
  std::optional<Transform> (*read)(std::string_view text);
  std::string (*write)(const Transform& transform);
};

/// The number that all of `text` is, or nullopt; a number too large for int reads as the largest
/// int.
[[nodiscard]] std::optional<int> read_number(std::string_view text);

/// The tables that reading, writing, listing and testing schemes share: a new transform or format
/// is one row here.
[[nodiscard]] const std::vector<TransformPart>& transform_parts();
[[nodiscard]] const std::vector<SchemePart<Basis>>& basis_parts();
[[nodiscard]] const std::vector<SchemePart<Span>>& span_parts();
[[nodiscard]] const std::vector<FormatPart>&
format_parts();  ///< without Format::none, which is not written
[[nodiscard]] const std::vector<SchemePart<Granularity>>& granularity_parts();
[[nodiscard]] const std::vector<SchemePart<Rounding>>& rounding_parts();

[[nodiscard]] std::string_view to_string(Basis basis);
[[nodiscard]] std::string_view to_string(Span span);
[[nodiscard]] std::string_view to_string(Format format);  ///< "none" for Format::none
[[nodiscard]] std::string_view to_string(Granularity granularity);
[[nodiscard]] std::string_view to_string(Rounding rounding);

/// Orders n that blocks can have: powers of two from kMinOrder to kMaxOrder.
inline constexpr int kMinOrder = 2;
inline constexpr int kMaxOrder = 1024;

/// Largest n of the basis energy: the rows that it keeps are written as one mask.
inline constexpr int kMaxEnergyOrder = 64;
/// Largest side of a patch.
inline constexpr int kMaxPatch = 32;
/// Largest k of block<k> and oe<k>.
inline constexpr int kMaxCount = 1 << 20;

/// True when rows of H_n can be kept in this order: lp_l1 needs n to be a square number, energy one
/// up to kMaxEnergyOrder.
[[nodiscard]] bool basis_fits(Basis basis, int order);

}  // namespace hot
