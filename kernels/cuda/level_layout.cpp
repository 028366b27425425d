#include <stdexcept>

#include "kernels/cuda/passes.hpp"

namespace hot::kernels {
namespace {

constexpr std::int64_t kPad = 16;

std::int64_t padded(std::int64_t length) {
  return (length + kPad - 1) / kPad * kPad;
}

}  // namespace

LevelLayout level_layout(std::int64_t rows, std::int64_t cols, Along along,
                         const Transform& transform, bool packed) {
  LevelLayout layout;
  layout.terms = transformed_length(along == Along::rows ? rows : cols, transform);
  layout.free = along == Along::rows ? cols : rows;
  layout.pitch = padded(packed ? (layout.terms + 1) / 2 : layout.terms);
  layout.padded_free = padded(layout.free);
  layout.packed = packed;
  return layout;
}

ScaleGroup scale_group(Granularity granularity, Along along) {
  if (granularity == Granularity::tensor) return ScaleGroup::one;
  const bool by_row = granularity == Granularity::row;
  if (by_row != (along == Along::cols))
    throw std::logic_error(
        "a scale that varies along the contracted dimension can't leave the GEMM");
  return ScaleGroup::each_free;
}

}  // namespace hot::kernels
