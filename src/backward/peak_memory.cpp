#include "backward/peak_memory.hpp"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <mutex>

namespace hot::backward {
namespace {

struct Reporter : c10::MemoryReportingInfoBase {
  explicit Reporter(c10::Device device) : watched(device) {}
  void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t,
                         c10::Device device) override {
    if (device != watched) return;
    const std::lock_guard lock(mutex);
    current += bytes;
    peak = std::max(peak, current);
  }
  bool memoryProfilingEnabled() const override { return true; }

  c10::Device watched;
  mutable std::mutex mutex;
  std::int64_t current = 0;
  std::int64_t peak = 0;
};

}  // namespace

struct PeakMemory::State {
  explicit State(c10::Device device) : reporter(std::make_shared<Reporter>(device)) {}

  std::shared_ptr<Reporter> reporter;
  c10::DebugInfoGuard guard{c10::DebugInfoKind::PROFILER_STATE, reporter};
};

PeakMemory::PeakMemory(c10::Device device) : state_(std::make_unique<State>(device)) {}
PeakMemory::~PeakMemory() = default;

std::int64_t PeakMemory::peak_bytes() const {
  const std::lock_guard lock(state_->reporter->mutex);
  return state_->reporter->peak;
}

}  // namespace hot::backward
