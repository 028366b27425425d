// Out of memory while a layer is timed: its times are modelled, a note says so, the run goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "analyzers/cost/cost.hpp"
#include "analyzers/cost/layer_clock.hpp"
#include "analyzers/measure/measure.hpp"
#include "analyzers/trace/trace.hpp"
#include "tests/backward/small_models.hpp"
#include "tests/device/scarce_memory.hpp"

namespace hot::cost {
namespace {

using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(CostMemory, LayersThatDoNotFitAreModelledAndNamedAndTheOthersAreTimed) {
  ASSERT_EQ(setenv("HOT_CACHE_DIR", "", 1), 0);  // nothing is known from earlier runs
  const Scheme int8 = parse_scheme("none+int8/tensor");
  const models::Model model = mixed_model();
  const models::Inputs inputs = mixed_inputs();
  const models::Loss loss = output_loss(model, inputs);
  const Trace trace = trace::trace(model, inputs, loss, 0, nullptr);
  StepFacts facts(model, trace, {int8}, 0);
  ErrorTable table = measure::measure(
      model, inputs, loss, trace, {.schemes = {int8}}, nullptr,
      {[&] { facts.between(); }, [&](const backward::Operands& o) { facts.add(o); },
       [&](const models::StepResult& step) { facts.end(step); }});
  const Geometries geometries = facts.finish(inputs.batches.front(), loss, 0, table);
  (void)LayerClock({{}, {4, 4}, {4, 4}}).exact(Path::grad_input);  // what the clock keeps

  Options options;
  options.device = "no device at all";
  options.seconds = 1000;  // whatever fits is measured
  {
    // gy of `plain` and `first`, [576 × 24] floats, don't fit; every operand of the others does.
    const hot::testing::ScarceMemory memory(50000);
    TimeTable times(trace, geometries, options, table);
    times.begin({}, nullptr);
    times.end(nullptr);
    EXPECT_GT(memory.failures(), 0);
  }
  EXPECT_THAT(table.notes, Contains(::testing::AllOf(
                               HasSubstr("Out of memory on the GPU while timing layers of linear"),
                               HasSubstr("their times are modelled"))));
  int measured = 0;
  for (const ErrorRow& row : table.rows) {
    const Metric* ms = row.metrics.find("time_ms");
    ASSERT_NE(ms, nullptr) << row.layer;
    EXPECT_GT(ms->value, 0) << row.layer;
    if (row.layer == "plain" || row.layer == "first") {
      EXPECT_EQ(ms->origin, Origin::modelled) << row.layer;
    } else if (ms->origin == Origin::measured) {
      ++measured;
    }
  }
  EXPECT_GT(measured, 0);
  unsetenv("HOT_CACHE_DIR");
}

}  // namespace
}  // namespace hot::cost
