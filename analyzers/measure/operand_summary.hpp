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
/// is tried on a part of the operand, a scale per tensor or block is still that of the whole. One
/// pass for each Hadamard order; low-rank transforms keep some of its rows. The whole may come in
/// parts.
class Maxima {
 public:
  Maxima(kernels::Along along, std::span<const Scheme> schemes);

  /// Adds what the scales of a scheme with a format need, before any matrix.
  void add(const Scheme& scheme);

  /// Adds a contiguous float32 matrix. The contracted dimension is never divided between parts.
  void add(const at::Tensor& part);

  /// Largest magnitude after `transform`, 0 for an operand of zeros.
  [[nodiscard]] float of(const Transform& transform) const;

  /// Largest magnitude of each index of the contraction after `transform`; of the schemes with
  /// block<k>, and untransformed where a scheme extracts outliers.
  [[nodiscard]] at::Tensor by_index(const Transform& transform) const;

 private:
  kernels::Along along_;
  std::map<Transform, std::vector<float>> by_row_;  ///< full transform → largest of each row of H_n
  std::map<Transform, at::Tensor> by_index_;        ///< full transform → of each index
};

}  // namespace hot::measure
