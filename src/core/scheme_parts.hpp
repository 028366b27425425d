#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/errors.hpp"
#include "core/scheme.hpp"

namespace hot {

/// The grammar knows this part of a scheme, but this version can't run it; a typo is a plain
/// UsageError.
class SchemeUnavailable : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A value that a scheme can take, as it is written, and one line about it.
template <typename Value>
struct SchemePart {
  Value value;
  std::string_view name;
  std::string_view description;
};

/// An integer format: `bits` wide, symmetric.
struct FormatPart {
  Format value;
  std::string_view name;
  int bits;
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

/// A part that methods.md defines and this version lacks. `name` ends in "<…>" where a number
/// follows.
struct UnavailablePart {
  std::string_view part;  ///< "transform", "basis", "format", "granularity" or "outlier extraction"
  std::string_view name;
  std::string_view description;
};

/// The tables that reading, writing, listing and testing schemes share: a new transform or format
/// is one row here.
[[nodiscard]] const std::vector<TransformPart>& transform_parts();
[[nodiscard]] const std::vector<SchemePart<Basis>>& basis_parts();
[[nodiscard]] const std::vector<FormatPart>&
format_parts();  ///< without Format::none, which is not written
[[nodiscard]] const std::vector<SchemePart<Granularity>>& granularity_parts();
[[nodiscard]] const std::vector<SchemePart<Rounding>>& rounding_parts();
[[nodiscard]] const std::vector<UnavailablePart>& unavailable_parts();

[[nodiscard]] std::string_view to_string(Basis basis);
[[nodiscard]] std::string_view to_string(Format format);  ///< "none" for Format::none
[[nodiscard]] std::string_view to_string(Granularity granularity);
[[nodiscard]] std::string_view to_string(Rounding rounding);

/// Orders n that blocks can have: powers of two from kMinOrder to kMaxOrder.
inline constexpr int kMinOrder = 2;
inline constexpr int kMaxOrder = 1024;

/// True when rows of H_n can be kept in this order: lp_l1 needs n to be a square number.
[[nodiscard]] bool basis_fits(Basis basis, int order);

}  // namespace hot
