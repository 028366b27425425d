#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <span>
#include <vector>

#include "core/scheme.hpp"
#include "kernels/ops.hpp"

namespace hot::measure {

/// What the choice of compared entries and the scales need to know of a whole operand.
struct Energies {
  std::vector<double> rows;  ///< Σ v² of each row
  std::vector<double> cols;  ///< and of each column
  [[nodiscard]] double total() const;
};

/// One pass over a contiguous float32 matrix. NaN or infinite elements give a total that isn't
/// finite.
[[nodiscard]] Energies energies(const at::Tensor& matrix);

/// The largest magnitudes of a whole operand under the transforms of some schemes: where a scheme
/// is tried on a part of the operand, a scale per tensor is still that of the whole. One pass for
/// each Hadamard order; low-rank transforms keep some of its rows. The whole may come in parts.
class Maxima {
 public:
  Maxima(kernels::Along along, std::span<const Scheme> schemes);

  /// Adds a contiguous float32 matrix. The contracted dimension is never divided between parts.
  void add(const at::Tensor& part);

  /// Largest magnitude after `transform`, 0 for an operand of zeros.
  [[nodiscard]] float of(const Transform& transform) const;

 private:
  kernels::Along along_;
  std::map<int, std::vector<float>> by_row_;  ///< Hadamard order → largest of each row of H_n
};

}  // namespace hot::measure
