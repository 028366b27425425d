// What is known of a GPU goes through JSON and back, in reports and in plans, and into the tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/json.hpp"
#include "reports/json_gpu.hpp"
#include "reports/plan.hpp"
#include "reports/report_reader.hpp"
#include "reports/terminal.hpp"
#include "tests/reports/example.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;

GpuFacts example() {
  GpuFacts gpu;
  gpu.name = "Some GPU";
  gpu.capability = "9.0";
  gpu.memory_bytes = std::int64_t{141} << 30;
  gpu.sm_mhz = 1980;
  gpu.memory_mhz = 3201;
  gpu.processors = 132;
  gpu.driver = "CUDA 13.0, 580.65.06";
  gpu.formats = {{"int8", "native", "tensor cores"},
                 {"int4", "emulated", "multiplied as int8"},
                 {"fp4", "absent", ""}};
  gpu.before = GpuState{1755, 3201, 41, {}};
  gpu.after = GpuState{1400, 3201, 83, {"power limit"}};
  return gpu;
}

TEST(GpuReport, FactsSurviveJson) {
  Report report = testing::full_report();
  report.environment.device = "cuda:0";
  report.environment.gpu = example();
  report.plan->gpu = example();
  const std::string text = write_json(report);
  const Report read = read_report(text, "report.json");
  ASSERT_TRUE(read.environment.gpu);
  EXPECT_EQ(gpu_json(*read.environment.gpu), gpu_json(example()));
  ASSERT_TRUE(read.plan->gpu);
  EXPECT_EQ(gpu_json(*read.plan->gpu), gpu_json(example()));
  EXPECT_EQ(write_json(read), text);
}

TEST(GpuReport, APlanCarriesTheGpuThatItWasMadeFor) {
  Plan plan = *testing::full_report().plan;
  plan.gpu = example();
  const Plan read = read_plan(write_plan(plan), "plan.json");
  ASSERT_TRUE(read.gpu);
  EXPECT_EQ(gpu_json(*read.gpu), gpu_json(example()));
}

TEST(GpuReport, LinesSayFormatsClocksAndThrottling) {
  std::string all;
  for (const auto& [name, text] : gpu_lines(example())) all += name + ": " + text + "\n";
  EXPECT_THAT(all, HasSubstr("int8 native, int4 emulated, fp4 absent"));
  EXPECT_THAT(all, HasSubstr("before: SM 1755 MHz, memory 3201 MHz, 41 °C, not throttled"));
  EXPECT_THAT(all, HasSubstr("after: SM 1400 MHz, memory 3201 MHz, 83 °C, throttled: power limit"));
}

}  // namespace
}  // namespace hot::reports
