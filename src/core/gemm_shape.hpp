#pragma once

#include <cstdint>

namespace hot {

/// The three products of a layer (methods.md, section 1). Schemes apply to the two gradients alone.
enum class Path { forward = 0, grad_input = 1, grad_weight = 2 };

[[nodiscard]] const char* to_string(Path path);

/// `batch` products of an m×k by a k×n matrix.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;

  /// Floating-point operations: a multiplication and an addition for every term.
  [[nodiscard]] std::int64_t flops() const { return 2 * m * n * k * batch; }
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

}  // namespace hot
