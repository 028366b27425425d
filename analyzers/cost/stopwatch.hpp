#pragma once

#include <chrono>

namespace hot::cost {

/// Milliseconds that `work()` takes by the wall clock.
template <class Work>
[[nodiscard]] double milliseconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace hot::cost
