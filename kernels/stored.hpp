#pragma once

#include "kernels/backward.hpp"

namespace hot::kernels {

/// An operand as it is kept in memory until it is needed (ABC, methods.md section 3): INT4 levels
/// two a byte, anything else as it is; a device holds them two a byte anyway.
struct Stored {
  Operand operand;  ///< its values are bytes in one row where `levels` is set
  std::optional<std::vector<std::int64_t>> levels;  ///< sizes of its values before
};

[[nodiscard]] Stored stored(Operand operand);

/// The operand again, the same bits.
[[nodiscard]] Operand restored(Stored stored);

}  // namespace hot::kernels
