#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hot::kernels {

/// One thing that a GPU really did, by CUPTI's record.
struct Activity {
  enum class Kind { kernel, copy, set, allocation, release };
  Kind kind = Kind::kernel;
  std::string name;            ///< of a kernel, mangled as it came; "host to device" … of a copy
  std::uint64_t external = 0;  ///< id pushed around the call that caused it; 0: none
  std::uint64_t start_ns = 0, end_ns = 0;
  std::array<int, 3> grid{}, block{};
  int registers = 0;              ///< a thread
  std::int64_t shared_bytes = 0;  ///< a block, static and dynamic
  std::int64_t local_bytes = 0;   ///< a thread: spills
  std::int64_t bytes = 0;         ///< copied, set, allocated or released
};

/// Records of everything that GPUs do while alive. Where CUPTI can't be used (no library, no
/// permission, another profiler is attached) nothing is recorded, and reason() says why. One at a
/// time.
class ActivitySession {
 public:
  ActivitySession();
  ~ActivitySession();
  ActivitySession(const ActivitySession&) = delete;
  ActivitySession& operator=(const ActivitySession&) = delete;

  /// Empty while records are made.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// What this thread asks of the GPU from now on belongs to `id`, until pop(); they nest.
  void push(std::uint64_t id);
  void pop();

  /// Ends it: waits for the GPU and gives all records, in no order.
  [[nodiscard]] std::vector<Activity> stop();

  /// Records that found no room.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string reason_;
  std::size_t dropped_ = 0;
};

}  // namespace hot::kernels
