#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
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
  /// All are noted.
  explicit Ticks(std::size_t capacity) : Ticks(std::vector<std::uint8_t>(capacity, 1)) {}
  /// `wanted`: which of them are noted; of the others their number alone.
  explicit Ticks(std::vector<std::uint8_t> wanted)
      : wanted_(std::move(wanted)), ticks_(wanted_.size()) {}

  /// The next is number `first`.
  void clear(std::size_t first = 0) { count_ = first; }
  /// The number of the next, beyond the capacity too.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t capacity() const { return ticks_.size(); }
  [[nodiscard]] const Tick& operator[](std::size_t i) const { return ticks_[i]; }

 private:
  std::vector<std::uint8_t> wanted_;
  std::vector<Tick> ticks_;
  std::size_t count_ = 0;
  friend class StepClock;
};

/// Times the wanted operations and backward nodes on this thread while alive, and nothing else:
/// it takes no memory, so that tensors lie where they lie in an unwatched step (their places alone
/// can change a step's time by a tenth), and asks for no arguments. What each tick is, a StepLog of
/// an earlier step says. One at a time.
class StepClock {
 public:
  /// `first`: number of the first operation that comes.
  explicit StepClock(Ticks& ticks, std::size_t first = 0);
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
  double count = 0;   ///< likewise, of one that isn't wanted
};

/// Measures it on an operation that does next to nothing.
[[nodiscard]] HookCost measure_hook();

/// Which operations of a step are watched: forward's, backward's or all.
enum class Half { forward, backward, both };

/// Mean times of the same operations over several steps, without what their hooks cost.
class MeanEvents {
 public:
  /// `events`: those of one logged step; what ran on other threads than the first is left out.
  MeanEvents(std::vector<OpEvent> events, HookCost cost);

  /// Room for the ticks of a step; wanted are those that have a time of their own.
  [[nodiscard]] std::unique_ptr<Ticks> room() const;
  /// Number of the half's first operation, and of the one after its last.
  [[nodiscard]] std::pair<std::size_t, std::size_t> range(Half half) const;
  /// What watching them all costs in a step, seconds.
  [[nodiscard]] double cost() const;

  /// False for a step whose layers ran on several threads (forked tasks).
  [[nodiscard]] bool can_add() const { return one_thread_; }
  /// False, and nothing added, where these are other operations. The ticks' first number must be
  /// the half's.
  [[nodiscard]] bool add(const Ticks& ticks, Half half = Half::both);
  /// Forgets what was added.
  void clear();
  /// The logged events with their mean times; `begin` is 0.
  [[nodiscard]] std::vector<OpEvent> events() const;
  [[nodiscard]] std::size_t size() const { return events_.size(); }

 private:
  std::vector<OpEvent> events_;
  std::vector<std::uint64_t> names_;
  std::vector<double> sums_;
  std::vector<int> steps_;     ///< that each was watched in
  std::vector<double> hooks_;  ///< seconds that are the hooks' of each
  std::size_t middle_ = 0;     ///< the first after forward
  HookCost cost_;
  bool one_thread_ = true;
};

}  // namespace hot::profile
