#pragma once

#include <chrono>

namespace hot::bench {

/// Wall clock since it was made, or since the last lap.
class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  /// Seconds since the last lap; the next one begins.
  double lap() {
    const double spent = seconds();
    start_ = std::chrono::steady_clock::now();
    return spent;
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds that `work()` takes.
template <class Work>
[[nodiscard]] double seconds_of(const Work& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

}  // namespace hot::bench
