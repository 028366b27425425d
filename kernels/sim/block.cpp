#include "kernels/sim/block.hpp"

#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

namespace hot::kernels::sim {
namespace {

constexpr int kLanes = 32;
constexpr std::size_t kStackBytes = 128 << 10;
constexpr std::size_t kExchangeBytes = 1024;
constexpr int kSharedPattern = 0xCD;
constexpr std::size_t kGuardBytes = 4096;  ///< behind shared memory, which no thread may write

/// Threads that meet: all that are still running must arrive before any goes on.
struct Barrier {
  int members = 0;
  int arrived = 0;
  std::int64_t meetings = 0;

  void arrive() {
    if (++arrived == members) pass();
  }
  void leave() {
    --members;
    if (members > 0 && arrived == members) pass();
  }

 private:
  void pass() {
    arrived = 0;
    ++meetings;
  }
};

/// A thread: a context to start it, and from then on jumps, which cost no system call.
struct Fiber {
  ucontext_t context{};
  jmp_buf at{};
  bool started = false;
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  const Barrier* waits_at = nullptr;
  std::int64_t meeting = 0;  ///< goes on when the barrier has seen more meetings than this
  bool done = false;
};

struct Machine {
  jmp_buf scheduler{};
  std::vector<Fiber> fibers;
  Barrier block;
  std::vector<Barrier> warps;
  std::vector<char> exchange;  ///< of each thread, kExchangeBytes
  std::vector<char> shared;
  const std::function<void(char*)>* body = nullptr;
  std::exception_ptr failure;
  int thread = 0;
  std::int64_t block_number = 0;
  Turns turns = Turns::ascending;
};

Machine& machine() {
  static Machine one;
  return one;
}

Barrier& warp_barrier() {
  return machine().warps[static_cast<std::size_t>(machine().thread / kLanes)];
}

void wait_at(Barrier& barrier) {
  Machine& m = machine();
  Fiber& self = m.fibers[static_cast<std::size_t>(m.thread)];
  self.waits_at = &barrier;
  self.meeting = barrier.meetings;
  barrier.arrive();
  if (barrier.meetings == self.meeting && _setjmp(self.at) == 0) _longjmp(m.scheduler, 1);
  self.waits_at = nullptr;
}

void thread_main() {
  Machine& m = machine();
  try {
    (*m.body)(m.shared.data());
  } catch (...) {
    if (!m.failure) m.failure = std::current_exception();
  }
  m.fibers[static_cast<std::size_t>(m.thread)].done = true;
  warp_barrier().leave();
  m.block.leave();
  _longjmp(m.scheduler, 1);
}

void prepare_block(Machine& m, int threads, std::size_t shared_bytes) {
  m.shared.assign(shared_bytes + kGuardBytes, static_cast<char>(kSharedPattern));
  m.block = {threads};
  m.warps.assign(static_cast<std::size_t>((threads + kLanes - 1) / kLanes), {});
  for (int t = 0; t < threads; ++t) ++m.warps[static_cast<std::size_t>(t / kLanes)].members;
  for (int t = 0; t < threads; ++t) {
    Fiber& fiber = m.fibers[static_cast<std::size_t>(t)];
    fiber.done = false;
    fiber.started = false;
    fiber.waits_at = nullptr;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStackBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, thread_main, 0);
  }
}

void run_until_it_waits(Machine& m, Fiber& fiber) {
  if (_setjmp(m.scheduler) != 0) return;
  if (fiber.started) _longjmp(fiber.at, 1);
  fiber.started = true;
  setcontext(&fiber.context);
}

/// One turn for every thread that can go on; how many could.
int take_turns(Machine& m, int threads) {
  int ran = 0;
  for (int i = 0; i < threads && !m.failure; ++i) {
    const int t = m.turns == Turns::ascending ? i : threads - 1 - i;
    Fiber& fiber = m.fibers[static_cast<std::size_t>(t)];
    if (fiber.done || (fiber.waits_at != nullptr && fiber.waits_at->meetings == fiber.meeting))
      continue;
    m.thread = t;
    run_until_it_waits(m, fiber);
    ++ran;
  }
  return ran;
}

}  // namespace

void set_turns(Turns turns) {
  machine().turns = turns;
}

void run_blocks(std::int64_t blocks, int threads, std::size_t shared_bytes,
                const std::function<void(char*)>& body) {
  Machine& m = machine();
  if (m.fibers.size() < static_cast<std::size_t>(threads))
    m.fibers.resize(static_cast<std::size_t>(threads));
  m.exchange.resize(static_cast<std::size_t>(threads) * kExchangeBytes);
  m.body = &body;
  m.failure = nullptr;
  for (m.block_number = 0; m.block_number < blocks; ++m.block_number) {
    prepare_block(m, threads, shared_bytes);
    while (take_turns(m, threads) > 0) {
    }
    if (m.failure) std::rethrow_exception(m.failure);
    if (std::any_of(m.shared.end() - kGuardBytes, m.shared.end(),
                    [](char c) { return c != static_cast<char>(kSharedPattern); }))
      throw std::out_of_range("a thread wrote behind its block's shared memory");
    if (!std::all_of(m.fibers.begin(), m.fibers.begin() + threads,
                     [](const Fiber& f) { return f.done; }))
      throw std::logic_error("some threads wait at a barrier that the others never reach");
  }
}

int running_thread() {
  return machine().thread;
}
std::int64_t running_block() {
  return machine().block_number;
}

void block_sync() {
  wait_at(machine().block);
}

void shuffle_bytes(const void* values, std::size_t bytes, int mask, void* other) {
  Machine& m = machine();
  if (bytes > kExchangeBytes) throw std::logic_error("a shuffle of too many values");
  const auto slot = [&](int thread) {
    return m.exchange.data() + static_cast<std::size_t>(thread) * kExchangeBytes;
  };
  const int self = m.thread;
  std::memcpy(slot(self), values, bytes);
  wait_at(warp_barrier());
  std::memcpy(other, slot(self ^ mask), bytes);
  wait_at(warp_barrier());
}

}  // namespace hot::kernels::sim
