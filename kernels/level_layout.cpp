#include "kernels/level_layout.hpp"

#include <stdexcept>

namespace hot::kernels {
namespace {

constexpr std::int64_t kPad = 16;

}  // namespace

std::int64_t LevelLayout::vector_bytes() const {
  return rounded_up(packed ? (terms + 1) / 2 : terms, kPad);
}

LevelLayout level_layout(std::int64_t rows, std::int64_t cols, Along along,
                         const Transform& transform, bool packed) {
  LevelLayout layout;
  layout.terms = transformed_length(along == Along::rows ? rows : cols, transform);
  layout.free = along == Along::rows ? cols : rows;
  layout.packed = packed;
  layout.pitch = layout.vector_bytes();
  layout.padded_free = rounded_up(layout.free, kPad);
  return layout;
}

LevelLayout part_of(const LevelLayout& whole, std::int64_t first, std::int64_t count) {
  const bool ends_within = first + count < whole.terms && count % kPad != 0;
  if (whole.packed || first % kPad != 0 || ends_within || first + count > whole.terms)
    throw std::logic_error("a part of levels is whole groups of 16 terms");
  LevelLayout part = whole;
  part.terms = count;
  return part;
}

}  // namespace hot::kernels
