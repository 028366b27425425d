#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/gemm_shape.hpp"

namespace hot {

/// Order in which the rows of H_n are kept by a low-rank projection (methods.md, section 2).
enum class Basis { sequency, lp_l1 };

/// What both operands undergo along the contracted dimension, in consecutive zero-padded blocks of
/// `order`.
struct Transform {
  enum class Kind { none, hadamard, lowrank };
  Kind kind = Kind::none;
  int order = 1;  ///< n, a power of two; 1 when kind is none
  int rank = 1;   ///< rows of H_n kept; equals order unless kind is lowrank
  Basis basis = Basis::sequency;

  friend bool operator==(const Transform&, const Transform&) = default;
  friend auto operator<=>(const Transform&, const Transform&) = default;
};

enum class Format { none, int8, int4 };
enum class Granularity { tensor, row, column };
enum class Rounding { nearest, stochastic };

/// How one backward product is computed: transform × rank × format × granularity × rounding.
/// `granularity` and `rounding` are those of gy; the other operand is `other` and always rounds to
/// nearest.
struct Scheme {
  Transform transform;
  Format format = Format::none;
  Granularity granularity = Granularity::tensor;
  Granularity other = Granularity::tensor;
  Rounding rounding = Rounding::nearest;

  [[nodiscard]] bool is_exact() const {
    return transform.kind == Transform::Kind::none && format == Format::none;
  }
  friend bool operator==(const Scheme&, const Scheme&) = default;
  friend auto operator<=>(const Scheme&, const Scheme&) = default;
};

/// Bits of the integer format, 0 for `Format::none`.
[[nodiscard]] int bits(Format format);

/// Largest integer level, 2^(b-1)-1; 0 for `Format::none`.
[[nodiscard]] int max_level(Format format);

/// Reads the grammar of methods.md section 2, e.g. `exact`, `had16+int4/row/stochastic`,
/// `low16r8.lp_l1+int8/tensor/nearest`, `none+int8/row:column`. Omitted parts are tensor and
/// nearest. Throws UsageError naming the text, the part that is wrong, and what would be right.
[[nodiscard]] Scheme parse_scheme(std::string_view text);

/// Canonical text: `exact`, `had16` (no format), or transform+format/granularity[:other]/rounding.
[[nodiscard]] std::string to_string(const Scheme& scheme);

/// The reason why `scheme` cannot be one integer GEMM on `path` (methods.md, "Granularity"), or
/// nullopt if it can.
[[nodiscard]] std::optional<std::string> why_illegal(const Scheme& scheme, Path path);

}  // namespace hot
