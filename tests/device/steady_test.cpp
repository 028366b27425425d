// The protocol of a GPU's times, with a clock that says what it is told.
#include "device/steady.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hot::device {
namespace {

/// Time stands still but for what a piece of work is said to take.
class ScriptedClock : public Clock {
 public:
  Mark now() override { return time; }
  double seconds(const Mark& from, const Mark& to) override {
    return std::get<double>(to) - std::get<double>(from);
  }
  void cool() override {
    ++cooled;
    time += 1000;  // never counted
  }
  [[nodiscard]] bool is_gpu() const override { return true; }
  double time = 0;
  int cooled = 0;
};

TEST(SteadyTiming, EndsWhenTheIntervalIsUnderOnePercentAndNotBefore) {
  ScriptedClock clock;
  int run = 0;
  // ±4 % in turn: the 95 % interval of n runs is about 0.04·2/√n, under 1 % after some 64.
  const Timing timing =
      time_steadily(clock, [&] { clock.time += run++ % 2 == 0 ? 0.96e-3 : 1.04e-3; });
  EXPECT_TRUE(timing.settled);
  EXPECT_NEAR(timing.seconds, 1e-3, 1e-5);
  ASSERT_TRUE(timing.ci95);
  EXPECT_LT(*timing.ci95, 0.01 * timing.seconds);
  EXPECT_GT(timing.repeats, 50);
  EXPECT_LT(timing.repeats, 90);
}

TEST(SteadyTiming, WarmUpRunsDontCountAndEveryRunIsCooledBefore) {
  ScriptedClock clock;
  int run = 0;
  const Timing timing = time_steadily(clock, [&] { clock.time += run++ < 3 ? 5.0 : 0.1; });
  EXPECT_NEAR(timing.seconds, 0.1, 1e-9);
  EXPECT_EQ(timing.repeats, 5);
  EXPECT_EQ(run, 8);
  EXPECT_EQ(clock.cooled, 8);
}

TEST(SteadyTiming, ALimitEndsItAndItSaysSo) {
  ScriptedClock clock;
  int run = 0;
  Protocol protocol;
  protocol.seconds = 3;
  const Timing timing = time_steadily(
      clock, [&] { clock.time += run++ % 2 == 0 ? 0.5 : 1.5; }, protocol);
  EXPECT_FALSE(timing.settled);
  EXPECT_EQ(timing.repeats, 5);  // the least, though the time was over before
  protocol.seconds = 1e9;
  protocol.most = 12;
  EXPECT_EQ(time_steadily(
                clock, [&] { clock.time += run++ % 2 == 0 ? 0.5 : 1.5; }, protocol)
                .repeats,
            12);
}

TEST(WallClock, SpansAreSecondsOfTheHost) {
  Clock& clock = clock_of(c10::kCPU);
  EXPECT_FALSE(clock.is_gpu());
  Span span(clock);
  span.end();
  EXPECT_GE(span.seconds(), 0);
  EXPECT_LT(span.seconds(), 10);
  EXPECT_EQ(Span().seconds(), 0);
}

}  // namespace
}  // namespace hot::device
