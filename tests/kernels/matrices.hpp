#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "core/scheme.hpp"
#include "kernels/ops.hpp"

namespace hot::kernels {

inline Transform hadamard(int order) {
  return {Transform::Kind::hadamard, order, order, Basis::sequency};
}
inline Transform lowrank(int order, int rank, Basis basis = Basis::sequency) {
  return {Transform::Kind::lowrank, order, rank, basis};
}

/// Transforms that tests walk through.
inline std::vector<Transform> test_transforms() {
  return {Transform{},     hadamard(2),  hadamard(8),    hadamard(16),
          hadamard(32),    hadamard(64), lowrank(16, 8), lowrank(16, 10, Basis::lp_l1),
          lowrank(16, 16), lowrank(8, 1)};
}

/// Normally distributed numbers, the same for the same seed.
inline std::vector<float> random_floats(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

/// A matrix that owns its numbers. `spread` puts that many unused floats between neighbours in a
/// row.
struct TestMatrix {
  std::vector<float> data;
  MatrixView view;

  TestMatrix(std::int64_t rows, std::int64_t cols, unsigned seed, bool transposed = false,
             std::int64_t spread = 0)
      : data(random_floats(rows * cols * (1 + spread) + 1, seed)) {
    view = {data.data(), rows, cols, cols * (1 + spread), 1 + spread};
    if (transposed) {
      view.row_stride = 1 + spread;
      view.col_stride = rows * (1 + spread);
    }
  }
  [[nodiscard]] float at(std::int64_t r, std::int64_t c) const {
    return view.data[r * view.row_stride + c * view.col_stride];
  }
};

}  // namespace hot::kernels
