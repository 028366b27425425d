#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>

namespace hot::backward {

/// Follows a device's allocator's reports on this thread (and those it starts) while alive
/// (torchscript.md 3.6). Memory that libraries take past the allocator, oneDNN's scratchpads say,
/// is not seen.
class PeakMemory {
 public:
  explicit PeakMemory(c10::Device device = c10::kCPU);
  ~PeakMemory();
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;

  /// Highest number of bytes above the start, so far.
  [[nodiscard]] std::int64_t peak_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hot::backward
