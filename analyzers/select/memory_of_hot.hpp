#pragma once

#include "analyzers/select/optimize.hpp"
#include "core/error_table.hpp"

namespace hot::select {

/// Part of the exact backward time that the least time may be given up for memory.
inline constexpr double kTimeForMemory = 0.05;

/// The fastest plan need not keep less than the method `hot` does. Where the user set no limit to
/// memory and asked for time, and `fastest` keeps more than `hot` would: the fastest plan that
/// keeps no more, or, where none does within the other limits and kTimeForMemory, the one that
/// keeps least. What was limited is written into `bounds`; `fastest` where nothing is gained, or
/// `hot` wasn't measured.
[[nodiscard]] Solution with_memory_of_hot(const WholePlan& whole, const ErrorTable& errors,
                                          const Options& options, Solution fastest, Bounds& bounds);

}  // namespace hot::select
