#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <chrono>
#include <memory>
#include <variant>

namespace hot::device {

/// A moment on a device: of the wall clock, or an event in a GPU's stream.
using Mark =
    std::variant<std::chrono::steady_clock::time_point, std::shared_ptr<c10::Event>, double>;

/// Tells the time where the work is done. The CPU's is the wall clock; a GPU's are events in the
/// current stream, which are told the time when the work before them is done, so that taking a mark
/// waits for nothing. Only seconds() waits.
class Clock {
 public:
  virtual ~Clock() = default;
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  [[nodiscard]] virtual Mark now() = 0;
  /// From one mark to a later one.
  [[nodiscard]] virtual double seconds(const Mark& from, const Mark& to) = 0;
  /// Before each repeat of a measurement: empties the caches that the last one left warm, where the
  /// protocol says so (a GPU's L2).
  virtual void cool() {}
  /// True where times are a GPU's.
  [[nodiscard]] virtual bool is_gpu() const { return false; }
};

/// The clock of a device; lives as long as the process.
[[nodiscard]] Clock& clock_of(c10::Device device);

/// Time between two marks of one clock, found out when it is asked for.
class Span {
 public:
  Span() = default;
  explicit Span(Clock& clock) : clock_(&clock), from_(clock.now()) {}
  void end() { to_ = clock_->now(); }
  /// True where seconds() may wait for a GPU.
  [[nodiscard]] bool may_wait() const { return clock_ != nullptr && clock_->is_gpu(); }
  [[nodiscard]] double seconds() const {
    return clock_ == nullptr ? 0 : clock_->seconds(from_, to_);
  }

 private:
  Clock* clock_ = nullptr;
  Mark from_, to_;
};

}  // namespace hot::device
