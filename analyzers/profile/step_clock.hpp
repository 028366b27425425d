#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzers/profile/op_event.hpp"

namespace hot::profile {

/// Begin and end of one operation or backward node.
struct Tick {
  std::uint64_t name = 0;  ///< hash
  std::int64_t begin = 0;  ///< nanoseconds
  std::int64_t end = 0;
};

/// Room for the ticks of a step, taken beforehand.
class Ticks {
 public:
  explicit Ticks(std::size_t capacity) : ticks_(capacity) {}

  void clear() { count_ = 0; }
  /// Ticks noted, or asked for beyond the capacity.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t capacity() const { return ticks_.size(); }
  [[nodiscard]] const Tick& operator[](std::size_t i) const { return ticks_[i]; }

 private:
  std::vector<Tick> ticks_;
  std::atomic<std::size_t> count_{0};
  friend class StepClock;
};

/// Times every operation and backward node of a step on this thread while alive, and nothing else:
/// it takes no memory, so that tensors lie where they lie in an unwatched step (their places alone
/// can change a step's time by a tenth), and asks for no arguments. What each tick is, a StepLog of
/// an earlier step says. One at a time.
class StepClock {
 public:
  explicit StepClock(Ticks& ticks);
  ~StepClock();
  StepClock(const StepClock&) = delete;
  StepClock& operator=(const StepClock&) = delete;

  [[nodiscard]] static std::uint64_t hash(const char* name);

 private:
  struct Callbacks;
  std::uint64_t operations_ = 0;
  std::uint64_t nodes_ = 0;
};

/// Seconds that StepClock adds for one operation.
struct HookCost {
  double inside = 0;  ///< between the operation's own begin and end
  double whole = 0;   ///< of the operation that it runs in
};

/// Measures it on an operation that does next to nothing.
[[nodiscard]] HookCost measure_hook();

/// Mean times of the same operations over several steps, without what their hooks cost.
class MeanEvents {
 public:
  /// `events`: those of one logged step; what ran on other threads than the first is left out.
  MeanEvents(std::vector<OpEvent> events, HookCost cost);

  /// False for a step whose layers ran on several threads (forked tasks).
  [[nodiscard]] bool can_add() const { return one_thread_; }
  /// False, and nothing added, where these are other operations.
  [[nodiscard]] bool add(const Ticks& ticks);
  /// Forgets what was added.
  void clear();
  /// The logged events with their mean times; `begin` is 0.
  [[nodiscard]] std::vector<OpEvent> events() const;
  [[nodiscard]] std::size_t size() const { return events_.size(); }

 private:
  std::vector<OpEvent> events_;
  std::vector<std::uint64_t> names_;
  std::vector<double> sums_;
  std::vector<std::int64_t> inner_;  ///< events inside each one
  HookCost cost_;
  int steps_ = 0;
  bool one_thread_ = true;
};

}  // namespace hot::profile
