// Whom the time of nested operations belongs to, and what a hook's cost takes off.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "analyzers/profile/op_event.hpp"
#include "analyzers/profile/step_clock.hpp"

namespace hot::profile {
namespace {

OpEvent event(const char* name, double begin, double end, int depth, int site = -1,
              bool slice = true) {
  OpEvent e;
  e.name = name;
  e.begin = begin;
  e.end = end;
  e.depth = depth;
  e.site = site;
  e.slice = slice;
  return e;
}

double own(const std::vector<Slice>& slices, const std::string& name) {
  double seconds = 0;
  for (const Slice& s : slices) seconds += s.name == name ? s.own : 0;
  return seconds;
}

double all(const std::vector<Slice>& slices) {
  double seconds = 0;
  for (const Slice& s : slices) seconds += s.own;
  return seconds;
}

TEST(Slices, ACompositeOfOneLayerIsTheLayersWhole) {
  const auto slices = slices_of({event("linear", 0, 10, 0), event("addmm", 2, 8, 1, 7)});
  EXPECT_EQ(own(slices, "linear"), 10);
  EXPECT_EQ(own(slices, "addmm"), 0);
  EXPECT_EQ(slices.front().site, 7);
}

TEST(Slices, ANodeKeepsWhatIsNoProduct) {
  OpEvent node = event("AddmmBackward0", 0, 20, 0, 7);
  node.node = true;
  const auto slices = slices_of({node, event("t", 1, 2, 1), event("mm", 2, 8, 1, 7),
                                 event("mm", 9, 17, 1, 7), event("sum", 17, 19, 1)});
  EXPECT_EQ(own(slices, "AddmmBackward0"), 6);
  EXPECT_EQ(own(slices, "mm"), 14);
  EXPECT_EQ(all(slices), 20);
}

// A composite around products of two layers is neither's; all seconds are someone's, once.
TEST(Slices, EverySecondBelongsToOne) {
  const auto slices = slices_of({event("lstm", 0, 30, 0), event("mm", 1, 11, 1, 3),
                                 event("mm", 12, 20, 1, 4), event("tanh", 30, 34, 0)});
  EXPECT_EQ(own(slices, "lstm"), 12);
  EXPECT_EQ(all(slices), 34);
}

TEST(ReadableName, OfANodeIsItsClassAlone) {
  EXPECT_EQ(
      readable_name("torch::autograd::CppNode<hot::backward::(anonymous namespace)::Own>", true),
      "Own");
  EXPECT_EQ(readable_name("torch::autograd::AccumulateGrad", true), "AccumulateGrad");
  EXPECT_EQ(readable_name("torch::autograd::CppNode<a::Of<b::C> >", true), "Of<b::C> ");
  EXPECT_EQ(readable_name("AddmmBackward0", true), "AddmmBackward0");
  EXPECT_EQ(readable_name("aten::mm", false), "aten::mm");
}

TEST(MeanEvents, OtherOperationsAreRefused) {
  Ticks ticks(4);
  MeanEvents mean({event("a", 0, 1, 0)}, {});
  EXPECT_TRUE(mean.can_add());
  EXPECT_FALSE(mean.add(ticks)) << "none ran";
  auto elsewhere = event("b", 2, 3, 0);
  elsewhere.thread = 1;
  const MeanEvents without({event("a", 0, 1, 0), elsewhere}, {});
  EXPECT_TRUE(without.can_add());
  EXPECT_EQ(without.size(), 1);
  elsewhere.site = 3;
  EXPECT_FALSE(MeanEvents({event("a", 0, 1, 0), elsewhere}, {}).can_add()) << "a forked layer";
}

TEST(StepClock, NotesOperationsInTheirOrderAndNothingOnceGone) {
  const at::Tensor x = at::ones({2, 2});
  Ticks ticks(64);
  {
    const StepClock clock(ticks);
    static_cast<void>(at::mm(x, x));
  }
  const std::size_t noted = ticks.count();
  ASSERT_GE(noted, 1);
  EXPECT_EQ(ticks[0].name, StepClock::hash("aten::mm"));
  EXPECT_GE(ticks[0].end, ticks[0].begin);
  static_cast<void>(at::mm(x, x));
  EXPECT_EQ(ticks.count(), noted);

  std::vector<OpEvent> events;
  for (std::size_t i = 0; i < noted; ++i) events.push_back(event("aten::mm", 0, 1, 0));
  MeanEvents same(std::vector<OpEvent>(events.begin(), events.begin() + 1), {});
  EXPECT_EQ(same.add(ticks), noted == 1);
}

TEST(StepClock, MoreOperationsThanRoomAreCountedAndNotNoted) {
  const at::Tensor x = at::ones({2, 2});
  Ticks ticks(1);
  {
    const StepClock clock(ticks);
    for (int i = 0; i < 3; ++i) static_cast<void>(at::mm(x, x));
  }
  EXPECT_GE(ticks.count(), 3);
  EXPECT_FALSE(MeanEvents({event("aten::mm", 0, 1, 0)}, {}).add(ticks));
}

TEST(StepClock, CountsWhatIsNotWanted) {
  const at::Tensor x = at::ones({2, 2});
  Ticks ticks(std::vector<std::uint8_t>{1, 0, 1});
  {
    const StepClock clock(ticks);
    for (int i = 0; i < 3; ++i) static_cast<void>(x.is_same_size(x));
  }
  EXPECT_EQ(ticks.count(), 3);
  EXPECT_EQ(ticks[0].name, StepClock::hash("aten::is_same_size"));
  EXPECT_EQ(ticks[1].name, 0);
  EXPECT_EQ(ticks[2].name, StepClock::hash("aten::is_same_size"));
}

// Forward and backward are watched in different steps; each mean is over its own.
TEST(MeanEvents, HalvesAddUpToAStep) {
  const at::Tensor x = at::ones({2, 2});
  auto later = event("aten::is_same_size", 2, 3, 0);
  later.phase = Phase::backward;
  MeanEvents mean(
      {event("aten::is_same_size", 0, 1, 0), event("aten::is_same_size", 1, 2, 0), later}, {});
  const auto ticks = mean.room();
  const auto watch = [&](Half half) {
    const auto [begin, end] = mean.range(half);
    {
      const StepClock clock(*ticks, begin);
      for (std::size_t i = begin; i < end; ++i) static_cast<void>(x.is_same_size(x));
    }
    EXPECT_FALSE(mean.add(*ticks, half == Half::forward ? Half::backward : Half::forward));
    return mean.add(*ticks, half);
  };
  ASSERT_TRUE(watch(Half::forward));
  EXPECT_GT(mean.events()[0].end, 0);
  EXPECT_EQ(mean.events()[2].end, 0);
  ASSERT_TRUE(watch(Half::backward));
  EXPECT_GT(mean.events()[2].end, 0);
}

TEST(StepClock, AHookCostsSomethingAndNotMuch) {
  const HookCost cost = measure_hook();
  EXPECT_GE(cost.inside, 0);
  EXPECT_GE(cost.whole, cost.inside);
  EXPECT_GE(cost.whole, cost.count);
}

}  // namespace
}  // namespace hot::profile
