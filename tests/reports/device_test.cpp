// A GPU's kernels in the table and in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/json.hpp"
#include "reports/report_reader.hpp"
#include "reports/terminal.hpp"
#include "tests/reports/example.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

DeviceProfile example() {
  DeviceProfile profile;
  profile.exact.busy_ms = 2;
  profile.exact.span_ms = 2.5;
  profile.exact.work = {
      {"fc1",
       "grad_input",
       "",
       "kernel",
       "gemm_sm90",
       3,
       1.5,
       0.75,
       {64, 2, 1},
       {256, 1, 1},
       168,
       49152,
       0},
      {"", "", "", "copy", "copy host to device", 1, 0.5, 0.25, {}, {}, 0, 0, 4096}};
  return profile;
}

TEST(DeviceReport, TheTableNamesLayerPathTimeGridRegistersBytesAndShare) {
  Report report = testing::full_report();
  report.device = example();
  Style style;
  style.width = 140;
  const std::string text = write_terminal(report, style);
  EXPECT_THAT(text, HasSubstr("kernels, exact step"));
  EXPECT_THAT(text, HasSubstr("64x2 x 256"));
  EXPECT_THAT(text, HasSubstr("75.0 %"));
  EXPECT_THAT(text, HasSubstr("168"));
  EXPECT_THAT(text, HasSubstr("gemm_sm90"));
  EXPECT_THAT(text, HasSubstr("4.10 kB"));
  EXPECT_THAT(text, Not(HasSubstr("the plan's step")));
}

TEST(DeviceReport, WithoutRecordsItSaysWhy) {
  Report report = testing::full_report();
  report.device.emplace();
  report.device->reason = "CUPTI: insufficient privileges";
  EXPECT_THAT(write_terminal(report, Style{}), HasSubstr("CUPTI: insufficient privileges"));
  EXPECT_THAT(write_json(report), HasSubstr("\"reason\": \"CUPTI: insufficient privileges\""));
}

TEST(DeviceReport, JsonHoldsEveryRowAndIsReadAgain) {
  Report report = testing::full_report();
  report.device = example();
  const std::string text = write_json(report);
  EXPECT_THAT(text, HasSubstr("\"gemm_sm90\""));
  EXPECT_NO_THROW((void)read_report(text, "report.json"));
}

}  // namespace
}  // namespace hot::reports
