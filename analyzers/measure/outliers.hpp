#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "core/error_table.hpp"
#include "kernels/ops.hpp"

namespace hot::measure {

/// Share of a sum that the largest hundredth of its terms (one at least) has, and how often that
/// is what as many equal terms would have.
struct Concentration {
  double share = 0;
  double ratio = 1;
};

[[nodiscard]] Concentration concentration(const std::vector<double>& energies);

/// The side on which the energy is concentrated: a hundredth of rows (columns) holds kOutlierRatio
/// times its equal share, and twice as much of it as the other side does.
inline constexpr double kOutlierRatio = 4;
[[nodiscard]] OutlierSide outlier_side(const Concentration& rows, const Concentration& cols);

/// Σ w v⁴ · Σ w / (Σ w v²)² of a contiguous float32 matrix whose row i weighs row_weight[i], column
/// j col_weight[j]; an empty vector: all the same. 3 for normal values, 0 for zeros.
[[nodiscard]] double kurtosis(const at::Tensor& matrix, const std::vector<double>& row_weight,
                              const std::vector<double>& col_weight);

}  // namespace hot::measure
