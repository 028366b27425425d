#include "core/interrupt.hpp"

#include <atomic>

namespace hot {
namespace {
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);
}  // namespace

void request_interrupt() noexcept {
  requested.store(true, std::memory_order_relaxed);
}

bool interrupt_requested() noexcept {
  return requested.load(std::memory_order_relaxed);
}

void throw_if_interrupted() {
  if (interrupt_requested()) throw Interrupted();
}

}  // namespace hot
