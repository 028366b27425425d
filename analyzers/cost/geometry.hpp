#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backward/operands.hpp"

namespace hot::cost {

/// The sizes of one call of one layer: all that its time depends on.
struct Geometry {
  backward::Window window;
  std::vector<std::int64_t> x;       ///< [rows, I] of a linear layer, [N, C, spatial…]
  std::vector<std::int64_t> weight;  ///< [O, I] of a linear layer, [O, C, kernel…]

  /// The same text for the same sizes, e.g. "linear 1576x768 3072x768"; the key of the cache.
  [[nodiscard]] std::string key() const;
};

/// `o` needs its sizes, gy and the weight.
[[nodiscard]] Geometry geometry_of(const backward::Operands& o);

}  // namespace hot::cost
