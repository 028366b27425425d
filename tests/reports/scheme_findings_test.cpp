#include "reports/scheme_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hot::reports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ErrorRow row(const char* layer, Path path, const char* scheme, double error, double ms = 0) {
  ErrorRow r{layer, path, parse_scheme(scheme), Execution::native, {}};
  r.metrics.set("relative_error", error, Origin::measured);
  if (ms > 0) r.metrics.set("time_ms", ms, Origin::measured);
  return r;
}

Report with(std::vector<ErrorRow> rows) {
  Report report;
  report.errors.emplace();
  report.errors->rows = std::move(rows);
  return report;
}

// Half of 16 rows with an error over √½ are no better than any half.
TEST(SchemeFindingsTest, LowRankThatDoesNothing) {
  const auto found = scheme_findings(with({row("a", Path::grad_weight, "low16r8+int8", 0.8),
                                           row("a", Path::grad_weight, "low16r12+int8", 0.5),
                                           row("b", Path::grad_weight, "low16r8+int8", 0.3)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].sentence, HasSubstr("Low rank does nothing in 1 of 2 gradients"));
  EXPECT_THAT(found[0].layers, ElementsAre("a (weight)"));
}

TEST(SchemeFindingsTest, TransformsThatHurtAndWhy) {
  Report report = with({row("a", Path::grad_weight, "none+int4", 0.2),
                        row("a", Path::grad_weight, "had16+int4", 0.4),
                        row("b", Path::grad_weight, "none+int4", 0.4),
                        row("b", Path::grad_weight, "had16+int4", 0.2)});
  OperandFacts x{Path::grad_weight, "x", 0, 0.9, OutlierSide::columns, 50, 48, true};
  report.errors->facts.push_back({"a", {}, {x}});
  const auto found = scheme_findings(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].sentence, HasSubstr("hurts INT4 in 1 of 2 gradients"));
  EXPECT_THAT(found[0].sentence, HasSubstr("in 1 of them an operand's outliers lie along"));
  EXPECT_THAT(found[0].layers, ElementsAre("a (weight)"));
}

TEST(SchemeFindingsTest, Int4ThatBuysNoTime) {
  const auto found = scheme_findings(with({row("a", Path::grad_input, "had16+int4", 0.2, 10),
                                           row("a", Path::grad_input, "had16+int8", 0.1, 10)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].text(), HasSubstr("INT4 buys no time on this device: it takes 1.00 times"));
  EXPECT_TRUE(scheme_findings(with({row("a", Path::grad_input, "had16+int4", 0.2, 5),
                                    row("a", Path::grad_input, "had16+int8", 0.1, 10)}))
                  .empty());
}

// 13 of 16 rows: 3/16 of the product are zeros.
TEST(SchemeFindingsTest, PaddingThatWastesWork) {
  Report report = with({});
  report.trace.emplace();
  LayerTrace layer;
  layer.name = "a";
  layer.eligible = true;
  layer.path(Path::grad_weight) = {{{64, 64, 13, 1}}, 1, 1};
  layer.path(Path::grad_input) = {{{64, 64, 64, 1}}, 1, 1};
  report.trace->layers.push_back(layer);
  const auto found = scheme_findings(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].text(),
            "Padding to blocks of 16 wastes 19 % of a transformed product (counted from shapes) "
            "(a (weight)).");
}

}  // namespace
}  // namespace hot::reports
