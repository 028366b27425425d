// The simulator itself: it must find the mistakes that it is there for.
#include <gtest/gtest.h>

#include "kernels/cuda/launch.hpp"

namespace hot::kernels::sim {
namespace {

struct Numbers {
  std::int32_t* out = nullptr;
};

template <void body(const Numbers&, char*)>
struct Kernel {
  using Params = Numbers;
  static constexpr int kThreads = 64;
  static std::size_t shared_bytes(const Params&) { return 64 * sizeof(std::int32_t); }
  static void run(const Params& p, char* shared) { body(p, shared); }
};

void neighbours(const Numbers& p, char* shared) {
  auto* values = reinterpret_cast<std::int32_t*>(shared);
  values[thread_index()] = thread_index();
  block_sync();
  store(p.out + block_index() * 64 + thread_index(), values[63 - thread_index()]);
}

void without_barrier(const Numbers& p, char* shared) {
  auto* values = reinterpret_cast<std::int32_t*>(shared);
  values[thread_index()] = thread_index();
  store(p.out + thread_index(), values[63 - thread_index()]);
}

void beyond(const Numbers& p, char*) {
  store(p.out + thread_index() + 1, 0);
}

void misaligned(const Numbers& p, char*) {
  (void)load(reinterpret_cast<const Bytes16*>(p.out + 1));
}

void half_a_barrier(const Numbers&, char*) {
  if (thread_index() < 16) return block_sync();
  const float mine[1] = {0};
  float other[1];
  shuffle_xor(mine, 1, other);
}

class SimTest : public testing::Test {
 protected:
  std::int32_t* memory = static_cast<std::int32_t*>(allocate(128 * sizeof(std::int32_t)));
  ~SimTest() override {
    release(memory);
    set_turns(Turns::ascending);
  }
};

TEST_F(SimTest, ThreadsMeetAtBarriersInAnyOrder) {
  for (const Turns turns : {Turns::ascending, Turns::descending}) {
    set_turns(turns);
    launch<Kernel<neighbours>>(nullptr, 2, {memory});
    for (int i = 0; i < 128; ++i) EXPECT_EQ(memory[i], 63 - i % 64);
  }
}

TEST_F(SimTest, AMissingBarrierChangesResultsWithTheOrder) {
  std::vector<std::int32_t> results[2];
  for (int i = 0; i < 2; ++i) {
    set_turns(i == 0 ? Turns::ascending : Turns::descending);
    launch<Kernel<without_barrier>>(nullptr, 1, {memory});
    results[i].assign(memory, memory + 64);
  }
  EXPECT_NE(results[0], results[1]);
}

TEST_F(SimTest, AccessesOutsideBuffersAreErrors) {
  EXPECT_THROW(launch<Kernel<beyond>>(nullptr, 1, {memory + 64}), std::out_of_range);
  EXPECT_THROW(launch<Kernel<misaligned>>(nullptr, 1, {memory}), std::out_of_range);
}

TEST_F(SimTest, AWriteBehindSharedMemoryIsAnError) {
  EXPECT_NO_THROW(run_blocks(1, 1, 16, [](char* shared) { shared[15] = 1; }));
  EXPECT_THROW(run_blocks(1, 1, 16, [](char* shared) { shared[16] = 1; }), std::out_of_range);
}

TEST_F(SimTest, ABarrierThatSomeNeverReachIsAnError) {
  EXPECT_THROW(launch<Kernel<half_a_barrier>>(nullptr, 1, {memory}), std::logic_error);
}

TEST_F(SimTest, ShufflesReadTheOtherLane) {
  std::int32_t seen[64] = {};
  run_blocks(1, 64, 0, [&](char*) {
    const float mine[1] = {static_cast<float>(thread_index())};
    float other[1];
    shuffle_xor(mine, 5, other);
    seen[thread_index()] = static_cast<std::int32_t>(other[0]);
  });
  for (int i = 0; i < 64; ++i) EXPECT_EQ(seen[i], i ^ 5);
}

}  // namespace
}  // namespace hot::kernels::sim
