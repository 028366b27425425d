#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hot::models {

/// Values of a tensor are drawn uniformly from low..high, both ends included.
struct ValueRange {
  double low = 0;
  double high = 0;
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

/// What one argument shall be, before the schema's type turns it into a value.
struct ValueSpec {
  enum class Kind { none, tensor, integer, floating, boolean, string, list, tuple, dict };
  Kind kind = Kind::none;

  std::string dtype = "float32";    ///< tensor: one of spec_dtypes()
  std::vector<std::int64_t> shape;  ///< tensor: sizes; empty is a tensor without dimensions
  std::optional<ValueRange> range;  ///< tensor: where its values come from, if that was said
  std::int64_t integer = 0;         ///< integer; boolean as 0 or 1
  double floating = 0;              ///< floating
  std::string text;                 ///< string
  std::vector<ValueSpec> items;     ///< list, tuple, values of dict
  std::vector<std::string> keys;    ///< dict, parallel to items

  friend bool operator==(const ValueSpec&, const ValueSpec&) = default;
};

/// One --input: an argument's name (empty: by position) and what it shall be.
struct NamedSpec {
  std::string name;
  ValueSpec value;
};

/// Names of the tensor types that the grammar knows.
[[nodiscard]] const std::vector<std::string_view>& spec_dtypes();

/// A tensor's specification.
[[nodiscard]] ValueSpec tensor_spec(std::string dtype, std::vector<std::int64_t> shape,
                                    std::optional<ValueRange> range = std::nullopt);

/// Number of elements. Throws UsageError where the product of the sizes doesn't fit an int64.
[[nodiscard]] std::int64_t element_count(const std::vector<std::int64_t>& shape);

/// Reads the grammar of models/README.md, e.g. `tokens=int64:8x128:0..30521`. Throws UsageError
/// that quotes the text, says what is wrong at which part, and what would be right.
[[nodiscard]] NamedSpec parse_input(std::string_view text);

/// The same for a value without a name.
[[nodiscard]] ValueSpec parse_value(std::string_view text);

/// Throws UsageError unless the dtype is known, the sizes are positive and countable, and the range
/// is ordered and fits the dtype.
void check_tensor_spec(const ValueSpec& spec);

/// Canonical text for people, e.g. "int64 8x128 in 0..30521"; lists as "[float32 4x4, float32
/// 4x4]".
[[nodiscard]] std::string describe(const ValueSpec& spec);

}  // namespace hot::models
