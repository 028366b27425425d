#pragma once

#include <cstdint>

namespace hot::verify {

struct Options {
  std::uint64_t seed = 0;
  int repeats = 3;      ///< interleaved pairs of exact and planned steps that are timed, at most
  double seconds = 20;  ///< once the pairs took this long, two are enough
  /// Layers that a first pair measures slower, without fewer bytes, go back to exact in the plan.
  bool drop_slower = false;
};

}  // namespace hot::verify
