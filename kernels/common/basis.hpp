#pragma once

#include <vector>

#include "core/scheme.hpp"

namespace hot::kernels {

/// The sequencies 0 … order−1 in the order in which `basis` keeps them (methods.md, section 2).
/// lp_l1 lays them on a √n×√n snake and goes by distance i + j, then by sequency. Throws
/// std::logic_error for an order that is no power of two, or no square under lp_l1, and for energy.
[[nodiscard]] std::vector<int> sequencies_in_order(int order, Basis basis);

/// Rows of the Sylvester matrix that `transform` keeps of each block, in output order: all of them
/// in natural order for a full transform, the first `rank` of the basis for a low-rank one, those
/// chosen before in the order of sequencies for energy. Throws
/// std::logic_error for an impossible transform.
[[nodiscard]] std::vector<int> kept_rows(const Transform& transform);

}  // namespace hot::kernels
