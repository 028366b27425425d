#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <atomic>

namespace hot::testing {

/// While alive, allocations of torch's that are too large fail as a GPU's allocator fails: with
/// c10::OutOfMemoryError. CPU tensors stand in for a GPU's.
class ScarceMemory : public c10::Allocator {
 public:
  /// Nothing over `most` bytes is given.
  explicit ScarceMemory(std::size_t most = SIZE_MAX)
      : most_(most), plenty_(c10::GetCPUAllocator()) {
    c10::SetCPUAllocator(this, 1);
  }
  ~ScarceMemory() override { c10::SetCPUAllocator(plenty_, 1); }
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;

  /// The next allocation fails, whatever its size.
  void fail_once() { fails_ = true; }
  [[nodiscard]] int failures() const { return failures_; }

  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes > most_ || fails_.exchange(false)) {
      ++failures_;
      TORCH_CHECK_WITH(OutOfMemoryError, false, "simulated: out of memory for ", bytes, " bytes");
    }
    return plenty_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return plenty_->raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    plenty_->copy_data(to, from, bytes);
  }

 private:
  std::size_t most_;
  c10::Allocator* plenty_;
  std::atomic<bool> fails_{false};
  std::atomic<int> failures_{0};
};

}  // namespace hot::testing
