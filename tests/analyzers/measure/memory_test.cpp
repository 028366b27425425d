// Out of memory while a layer is measured: it is skipped with the reason, and the run goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzers/measure/measure.hpp"
#include "analyzers/trace/trace.hpp"
#include "tests/backward/small_models.hpp"
#include "tests/device/scarce_memory.hpp"

namespace hot::measure {
namespace {

using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;
using ::testing::ElementsAre;

TEST(MeasureMemory, ALayerThatDoesNotFitIsSkippedWithTheReasonAndTheOthersAreMeasured) {
  const models::Model model = mixed_model();
  const models::Inputs inputs = mixed_inputs();
  const models::Loss loss = output_loss(model, inputs);
  const Trace trace = hot::trace::trace(model, inputs, loss, 1, nullptr);
  const Options options{.schemes = {parse_scheme("had16+int8/tensor/nearest")}};
  const ErrorTable whole = measure(model, inputs, loss, trace, options, nullptr);

  hot::testing::ScarceMemory memory;
  const ErrorTable table = measure(model, inputs, loss, trace, options, nullptr,
                                   {nullptr,
                                    [&](const backward::Operands& o) {
                                      if (o.layer == "first")
                                        memory.fail_once();  // the next is the measurement's own
                                    },
                                    nullptr});
  EXPECT_EQ(memory.failures(), 1);
  EXPECT_THAT(table.notes,
              ElementsAre("first: skipped, and left exact: there is not enough memory to measure "
                          "it."));
  for (const ErrorRow& row : whole.rows) {
    const ErrorRow* found = table.find(row.layer, row.path, row.scheme);
    if (row.layer == "first") {
      EXPECT_EQ(found, nullptr);
    } else {
      ASSERT_NE(found, nullptr) << row.layer;
      EXPECT_EQ(found->metrics.value("relative_error"), row.metrics.value("relative_error"));
    }
  }
}

}  // namespace
}  // namespace hot::measure
