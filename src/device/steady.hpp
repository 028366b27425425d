#pragma once

#include <functional>
#include <optional>

#include "device/clock.hpp"

namespace hot::device {

/// How a GPU is timed: some untimed runs; then, before each timed one, the L2 is emptied; it ends
/// when the 95 % interval of the mean is under a share of it, or at a limit.
struct Protocol {
  int warm_up = 3;
  int least = 5;
  int most = 200;
  double interval = 0.01;  ///< half width of the 95 % interval, over the mean
  double seconds = 2;      ///< after which no further repeat is begun
};

struct Timing {
  double seconds = 0;          ///< mean
  std::optional<double> ci95;  ///< half width
  int repeats = 0;
  bool settled = false;  ///< the interval was reached, no limit ended it
};

/// Runs `once`, which returns the seconds of what it times, by the protocol.
[[nodiscard]] Timing time_steadily(const std::function<double()>& once, const Protocol& protocol);

/// Times `work` between two marks of `clock`, its caches emptied before.
[[nodiscard]] Timing time_steadily(Clock& clock, const std::function<void()>& work,
                                   const Protocol& protocol = {});

}  // namespace hot::device
