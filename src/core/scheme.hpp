#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/gemm_shape.hpp"
#include "core/transform.hpp"

namespace hot {

/// Number formats of a quantized operand (kernels/common/formats.hpp, kernels/formats).
enum class Format { none, int8, int4, fp8e4m3, fp8e5m2, mxfp8, mxfp4, nvfp4, luq4 };

/// What a scale belongs to. block: `Scheme::block` indices of the contraction that follow each
/// other, over the whole free dimension.
enum class Granularity { tensor, row, column, block };
enum class Rounding { nearest, stochastic };

/// How one backward product is computed: transform × rank × format × granularity × rounding.
/// `granularity` and `rounding` are those of gy; the other operand is `other` and always rounds to
/// nearest.
struct Scheme {
  Transform transform;
  Format format = Format::none;
  Granularity granularity = Granularity::tensor;  ///< tensor where the format has its own blocks
  Granularity other = Granularity::tensor;
  Rounding rounding = Rounding::nearest;
  Format other_format = Format::none;  ///< of W or x; none: the same as gy's
  int block = 0;     ///< k of block<k>, of whichever operands have it; 0 where none has
  int outliers = 0;  ///< k of oe<k>: indices of the contraction that go through a float product

  [[nodiscard]] bool is_exact() const {
    return transform.kind == Transform::Kind::none && format == Format::none;
  }
  [[nodiscard]] Format format_of_other() const {
    return other_format == Format::none ? format : other_format;
  }
  friend bool operator==(const Scheme&, const Scheme&) = default;
  friend auto operator<=>(const Scheme&, const Scheme&) = default;
};

/// True for int8 and int4: products of two such operands run as integer GEMMs.
[[nodiscard]] bool is_integer(Format format);

/// Indices of the contraction that share a scale by the format's own definition (mxfp8, mxfp4,
/// nvfp4); 0 for formats that take a granularity.
[[nodiscard]] int own_block(Format format);

/// True where no device here runs the scheme's numbers: its products are those of the rounded
/// numbers in float32. What is left are exact products and integer ones of one format.
[[nodiscard]] bool is_simulated(const Scheme& scheme);

/// Bits of an element, 0 for `Format::none`.
[[nodiscard]] int bits(Format format);

/// Largest integer level, 2^(b-1)-1; 0 for a format without integer levels.
[[nodiscard]] int max_level(Format format);

/// Reads the grammar of methods.md section 2, e.g. `exact`, `had16+int4/row/stochastic`,
/// `low16r8.lp_l1+int8/tensor/nearest`, `none+luq4:int4/stochastic`, `had16+int4+oe8`. Omitted
/// parts are tensor and nearest. Throws UsageError naming the text, the part that is wrong, and
/// what would be right.
[[nodiscard]] Scheme parse_scheme(std::string_view text);

/// Canonical text: `exact`, `had16` (no format), or
/// transform+format[:other]/granularity[:other]/rounding[+oe<k>]; without the granularity where
/// both formats have blocks of their own.
[[nodiscard]] std::string to_string(const Scheme& scheme);

/// The reason why `scheme` can't run on `path` (methods.md, "Granularity"), or nullopt if it can.
[[nodiscard]] std::optional<std::string> why_illegal(const Scheme& scheme, Path path);

/// Why `scheme` can't run yet: what analysis would fill in is missing; nullopt if nothing is.
[[nodiscard]] std::optional<std::string> why_unresolved(const Scheme& scheme);

/// The scheme with nothing of a layer filled in (without_layer()).
[[nodiscard]] Scheme without_layer(const Scheme& scheme);

}  // namespace hot
