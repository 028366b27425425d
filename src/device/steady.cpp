#include "device/steady.hpp"

#include <algorithm>
#include <cmath>

#include "analyzers/measure/totals.hpp"

namespace hot::device {
namespace {

/// Mean and variance of numbers that come one after the other (Welford).
class Running {
 public:
  void add(double value) {
    ++count_;
    const double off = value - mean_;
    mean_ += off / count_;
    squares_ += off * (value - mean_);
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double half_width() const {
    return measure::student_t(count_ - 1) * std::sqrt(squares_ / (count_ - 1) / count_);
  }

 private:
  int count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace

Timing time_steadily(const std::function<double()>& once, const Protocol& protocol) {
  for (int i = 0; i < protocol.warm_up; ++i) (void)once();
  Running times;
  double spent = 0;
  Timing timing;
  while (times.count() < protocol.most) {
    const double seconds = once();
    times.add(seconds);
    spent += seconds;
    if (times.count() < std::max(2, protocol.least)) continue;
    timing.settled = times.half_width() < protocol.interval * times.mean();
    if (timing.settled || spent > protocol.seconds) break;
  }
  timing.seconds = times.mean();
  timing.repeats = times.count();
  if (times.count() > 1) timing.ci95 = times.half_width();
  return timing;
}

Timing time_steadily(Clock& clock, const std::function<void()>& work, const Protocol& protocol) {
  return time_steadily(
      [&] {
        clock.cool();
        Span span(clock);
        work();
        span.end();
        return span.seconds();
      },
      protocol);
}

}  // namespace hot::device
