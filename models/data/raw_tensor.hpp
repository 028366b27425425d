#pragma once

#include <torch/script.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hot::models {

/// How a file writes one element.
struct Element {
  at::ScalarType type = at::kFloat;  ///< of the tensor that comes out
  int bytes = 4;                     ///< in the file
  bool widened = false;              ///< unsigned integers of 2, 4, 8 bytes, which become int64
};

/// Number of bytes of an array, or -1 where it exceeds `limit` (or can't be counted), or a size is
/// negative.
[[nodiscard]] std::int64_t checked_bytes(const std::vector<std::int64_t>& shape, int element_bytes,
                                         std::int64_t limit);

/// A tensor from `bytes` as they stand in a file (row-major; little-endian, or big-endian with
/// `swap`). `place` names file and array. Throws ModelError where the number of bytes doesn't fit
/// the shape, or a 64-bit unsigned value exceeds int64.
[[nodiscard]] at::Tensor tensor_from_bytes(std::string_view bytes, const Element& element,
                                           const std::vector<std::int64_t>& shape, bool swap,
                                           const std::string& place);

}  // namespace hot::models
