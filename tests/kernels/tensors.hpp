#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "tests/kernels/matrices.hpp"

namespace hot::kernels {

inline at::Tensor random_tensor(std::int64_t rows, std::int64_t cols, unsigned seed) {
  const std::vector<float> values = random_floats(rows * cols, seed);
  return at::tensor(values, at::kFloat).reshape({rows, cols});
}

/// Integers from −largest to largest with both ends frequent.
inline at::Tensor random_levels(std::int64_t rows, std::int64_t cols, int largest, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> level(-2 * largest, 2 * largest);
  at::Tensor out = at::empty({rows, cols}, at::kChar);
  for (std::int64_t i = 0; i < out.numel(); ++i)
    out.mutable_data_ptr<std::int8_t>()[i] =
        static_cast<std::int8_t>(std::clamp(level(generator), -largest, largest));
  return out;
}

/// The same numbers in memory that is not row-major: transposed, or every second column of a wider
/// matrix.
inline std::vector<at::Tensor> other_strides(const at::Tensor& a) {
  at::Tensor wide = at::zeros({a.size(0), 2 * a.size(1)}, a.options());
  at::Tensor spread = wide.slice(1, 0, 2 * a.size(1), 2);
  spread.copy_(a);
  return {a.t().contiguous().t(), spread};
}

/// Runs `body` with `threads` threads and restores the former number.
template <class Body>
auto with_threads(int threads, const Body& body) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  auto result = body();
  at::set_num_threads(before);
  return result;
}

/// Largest |difference| relative to the largest magnitude of `expected`.
inline double relative_difference(const at::Tensor& ours, const at::Tensor& expected) {
  if (ours.sizes() != expected.sizes()) return INFINITY;
  if (expected.numel() == 0) return 0;
  const at::Tensor reference = expected.to(at::kDouble);
  return (ours.to(at::kDouble) - reference).abs().max().item<double>() /
         std::max(1e-300, reference.abs().max().item<double>());
}

}  // namespace hot::kernels
