#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hot::measure {

/// The compared part of one dimension of a gradient.
struct Axis {
  std::vector<std::int64_t> index;  ///< ascending
  std::vector<double> weight;       ///< how many indices each one stands for, 1 = itself alone
};

/// How many rows and columns of a gradient are compared.
struct SampleSize {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// A gradient of rows × cols entries is compared whole where it has at most `min_entries` or where
/// `work` allows it; else a block of `work`·rows·cols entries, but at least min_entries / 4 of
/// them, with twice as many columns as rows (gy's rows are rounded once per scheme and seed, the
/// other operand once per format). `live_rows`, `live_cols`: those that aren't zero throughout and
/// need comparing at all.
[[nodiscard]] SampleSize sample_size(std::int64_t rows, std::int64_t cols, std::int64_t live_rows,
                                     std::int64_t live_cols, double work, std::int64_t min_entries);

/// `count` indices of a dimension whose index i carries `energy[i]` (≥ 0). Indices without energy
/// contribute exactly nothing and are never taken. Those that carry more than their share of what
/// is left (up to half of `count`) are taken with certainty, the others at random, without
/// replacement, over the whole range; so a few large tokens don't spoil the estimate.
[[nodiscard]] Axis choose_axis(std::span<const double> energy, std::int64_t count,
                               std::uint64_t seed);

}  // namespace hot::measure
