// Who is told of whose work.
#include "device/scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/device/observe_step.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::device {
namespace {

struct Listing : WorkObserver {
  void enter(const Work& work) override {
    ++depth;
    entered.push_back(work.text());
  }
  void leave() override { --depth; }
  std::vector<std::string> entered;
  int depth = 0;
};

TEST(WorkScope, TellsNobodyThenEveryWatcherInPairsAndInheritsTheLayer) {
  EXPECT_FALSE(work_is_watched());
  { const WorkScope unseen({"a", "forward", ""}); }
  Listing listing;
  {
    const WatchedWork watched(listing);
    EXPECT_TRUE(work_is_watched());
    const WorkScope outer({"fc1", "backward", ""});
    const WorkScope inner({"", "grad_input", "had16"});
    EXPECT_EQ(listing.depth, 2);
  }
  EXPECT_THAT(listing.entered,
              ::testing::ElementsAre("fc1 / backward", "fc1 / grad_input / had16"));
  EXPECT_FALSE(work_is_watched());
}

// Every layer of a step is told with its paths, exact and planned.
TEST(WorkScope, AStepTellsLayersPathsAndSchemes) {
  const models::Model model = backward::testing::mixed_model();
  const models::Inputs inputs = backward::testing::mixed_inputs();
  const models::Loss loss = backward::testing::output_loss(model, inputs);
  Listing listing;
  {
    const backward::Replacement planned(
        model, {{"first", {parse_scheme("had16+int8/tensor"), parse_scheme("exact")}}}, 1);
    struct Nobody : backward::Listener {
    } nobody;
    const backward::Recorder names(model, nobody, false);
    const WatchedWork watched(listing);
    (void)models::run_step(model, inputs.batches.front(), loss, 1);
    names.rethrow();
  }
  EXPECT_EQ(listing.depth, 0);
  using ::testing::Contains;
  using ::testing::HasSubstr;
  EXPECT_THAT(listing.entered, Contains("plain / forward"));
  EXPECT_THAT(listing.entered, Contains("plain / backward"));
  EXPECT_THAT(listing.entered, Contains("plain / grad_input"));
  EXPECT_THAT(listing.entered, Contains(HasSubstr("first / grad_input / had16+int8")));
}

// Where CUPTI doesn't record, profiling a step says so and gives nothing else.
TEST(DeviceProfile, WithoutCuptiThereIsAReason) {
  const models::Model model = backward::testing::mixed_model();
  const models::Inputs inputs = backward::testing::mixed_inputs();
  const models::Loss loss = backward::testing::output_loss(model, inputs);
  const DeviceProfile profile = profile_device({model, inputs.batches.front(), loss, 1}, {});
  if (profile.reason.empty()) GTEST_SKIP() << "CUPTI records here";
  EXPECT_TRUE(profile.exact.work.empty());
}

}  // namespace
}  // namespace hot::device
