#pragma once

#include <optional>
#include <span>
#include <vector>

namespace hot::measure {

/// Kendall's tau-b of two rankings of the same things, from −1 (reversed) to 1 (the same); ties
/// count for neither side. nullopt where one of them ranks nothing (fewer than two values, or all
/// the same), or the lengths differ. O(n²).
[[nodiscard]] std::optional<double> kendall_tau(std::span<const double> a,
                                                std::span<const double> b);

/// Mean of tau over all pairs of rankings; nullopt where no pair has one.
[[nodiscard]] std::optional<double> mean_tau(const std::vector<std::vector<double>>& rankings);

}  // namespace hot::measure
