#include "reports/markdown.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "example.hpp"
#include "reports/text.hpp"

namespace hot::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Markdown, LeadsWithTheVerdictAndHoldsThePlan) {
  Report report = testing::full_report();
  report.verification->total.set("gradient_error", 0.1, Origin::measured);
  const std::string text = write_markdown(report);
  EXPECT_THAT(text, StartsWith("### ✅ hot-analyze: PASSED\n"));
  EXPECT_THAT(text, HasSubstr("1 of 2 layers are eligible"));
  EXPECT_THAT(text, HasSubstr("| 1 | `had16+int4/row/stochastic` | `low16r8.sequency+int8/tensor/"
                              "nearest` |"));
  EXPECT_THAT(text, HasSubstr("| `blocks.0.attn.qkv` | `had16+int4/row/stochastic` |"));
  EXPECT_THAT(text, HasSubstr("Half-precision parameters were converted to float32."));
  EXPECT_THAT(text, HasSubstr("Some CPU"));
}

TEST(Markdown, EveryMetricStandsWithItsOrigin) {
  const std::string text = write_markdown(testing::full_report());
  const Metrics metrics = testing::all_metrics();
  for (const Metric& m : metrics.all()) {
    const std::string interval = m.ci95 ? "± " + value_text(*m.ci95, m.info->unit) : "";
    EXPECT_THAT(text, HasSubstr(fmt::format("| {} | {} | {} | {} |", spaced(m.info->name),
                                            value_text(m.value, m.info->unit), interval,
                                            to_string(m.origin))));
  }
}

// No name of a layer or file can be markup, or end a cell.
TEST(Markdown, NamesAreNoMarkup) {
  Report report = testing::full_report();
  report.model.path = "<img src=x>|[a](b)*";
  report.plan->layers[0].name = "a|b`c\nd";
  const std::string text = write_markdown(report);
  EXPECT_THAT(text, Not(HasSubstr(" <img")));
  EXPECT_THAT(text, HasSubstr(R"(\<img src=x\>\|\[a\](b)\*)"));
  EXPECT_THAT(text, HasSubstr(R"(| `a\|b'c?d` |)"));
}

// GitHub refuses longer comments: what is left out is counted.
TEST(Markdown, FitsIntoAComment) {
  Report report = testing::full_report();
  const LayerPlan layer = report.plan->layers[0];
  for (int i = 0; i < 2000; ++i) {
    report.plan->layers.push_back(layer);
    report.plan->layers.back().name = fmt::format("encoder.layers.{}.self_attention.qkv", i);
    report.model.notes.push_back(fmt::format("note {} {}", i, std::string(1000, 'x')));
  }
  const std::string text = write_markdown(report);
  EXPECT_LE(text.size(), kMarkdownLimit);
  EXPECT_THAT(text, HasSubstr("more layers stand in the JSON report."));
  EXPECT_THAT(text, HasSubstr("more stand in the JSON report"));
}

}  // namespace
}  // namespace hot::reports
