#include "analyzers/measure/measure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "analyzers/trace/trace.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "tests/backward/small_models.hpp"

namespace hot::measure {
namespace {

using backward::testing::mixed_inputs;
using backward::testing::mixed_model;
using backward::testing::output_loss;
using ::testing::HasSubstr;

class MeasureTest : public ::testing::Test {
 protected:
  ErrorTable measured(const Progress& progress = nullptr) {
    return measure(model, inputs, loss, trace, options, progress);
  }

  models::Model model = mixed_model();
  models::Inputs inputs = mixed_inputs();
  models::Loss loss = output_loss(model, inputs);
  Trace trace = hot::trace::trace(model, inputs, loss, 1, nullptr);
  Options options{.schemes = {Scheme{}, parse_scheme("had16+int8/tensor/nearest"),
                              parse_scheme("none+int4/tensor/stochastic")}};
};

std::set<std::pair<std::string, Path>> measured_paths(const ErrorTable& table) {
  std::set<std::pair<std::string, Path>> result;
  for (const ErrorRow& row : table.rows) result.emplace(row.layer, row.path);
  return result;
}

// In the real backward pass: exactly the products that the trace saw, each by every scheme.
TEST_F(MeasureTest, EveryTracedProductOfEveryEligibleLayerHasItsRows) {
  std::set<std::pair<std::string, Path>> expected;
  for (const LayerTrace& layer : trace.layers) {
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      if (layer.eligible && layer.path(path).calls > 0) expected.emplace(layer.name, path);
    }
  }
  EXPECT_GE(expected.size(), 9U);
  const ErrorTable table = measured();
  EXPECT_EQ(measured_paths(table), expected);
  EXPECT_EQ(table.rows.size(), 3 * expected.size());
}

TEST_F(MeasureTest, ExactSchemeHasNoErrorAndCoarserOnesHaveMore) {
  const ErrorTable table = measured();
  for (const auto& [layer, path] : measured_paths(table)) {
    const auto error = [&](std::size_t scheme) {
      return table.find(layer, path, options.schemes[scheme])->metrics.value("relative_error");
    };
    EXPECT_LT(error(0), 1e-6) << layer;
    EXPECT_GT(error(1), 1e-4) << layer;
    EXPECT_GT(error(2), error(1)) << layer;
  }
}

TEST_F(MeasureTest, SeveralBatchesAreMeasuredTogether) {
  inputs.batches.push_back(inputs.batches.front());
  inputs.batches.back().inputs[0] = inputs.batches.back().inputs[0].toTensor() * 1.5;
  const ErrorTable table = measured();
  const Metrics& m = table.find("head", Path::grad_weight, options.schemes[1])->metrics;
  EXPECT_EQ(m.value("samples"), 2);
  EXPECT_GT(*m.find("relative_error")->ci95, 0);
  EXPECT_EQ(table.find("head", Path::grad_weight, options.schemes[2])->metrics.value("samples"),
            2 * options.seeds);
}

TEST_F(MeasureTest, ProgressNamesLayersAndReachesTheEnd) {
  std::int64_t last = -1;
  std::set<std::string> names;
  (void)measured(
      [&](std::string_view stage, std::int64_t done, std::int64_t total, std::string_view detail) {
        EXPECT_EQ(stage, "measure");
        EXPECT_GE(done, last);
        EXPECT_LE(done, total);
        last = done == total ? total : done;
        names.emplace(detail);
      });
  EXPECT_TRUE(names.contains("stem"));
  EXPECT_EQ(last, static_cast<std::int64_t>(trace.layers.size()) -
                      std::count_if(trace.layers.begin(), trace.layers.end(),
                                    [](const LayerTrace& l) { return !l.eligible; }));
}

TEST_F(MeasureTest, InterruptsArriveAsTheyAre) {
  EXPECT_THROW((void)measured([](std::string_view, std::int64_t, std::int64_t, std::string_view) {
                 throw Interrupted();
               }),
               Interrupted);
}

TEST_F(MeasureTest, NaNIsReportedByLayerAndOperand) {
  {
    const at::NoGradGuard no_grad;
    model.module.attr("first").toTensor().fill_(std::numeric_limits<float>::quiet_NaN());
  }
  try {
    (void)measured();
    FAIL() << "NaN was measured";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("layer head: the input (x)"));
  }
}

TEST_F(MeasureTest, NothingEligibleIsSaid) {
  for (LayerTrace& layer : trace.layers) layer.eligible = false;
  const ErrorTable table = measured();
  EXPECT_TRUE(table.rows.empty());
  EXPECT_THAT(table.notes.at(0), HasSubstr("No layer is eligible"));
}

}  // namespace
}  // namespace hot::measure
