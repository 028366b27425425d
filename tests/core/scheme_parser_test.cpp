#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "core/scheme_parts.hpp"

namespace hot {
namespace {

using ::testing::HasSubstr;

std::string message_of(const std::string& text) {
  try {
    const Scheme scheme = parse_scheme(text);
    return "accepted as " + to_string(scheme);
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(SchemeParser, OmittedPartsAreTensorAndNearest) {
  EXPECT_EQ(parse_scheme("had16+int4"), parse_scheme("had16+int4/tensor/nearest"));
  EXPECT_EQ(parse_scheme("had16+int4/row"), parse_scheme("had16+int4/row/nearest"));
  EXPECT_EQ(parse_scheme("had16+int4/stochastic"), parse_scheme("had16+int4/tensor/stochastic"));
  EXPECT_EQ(parse_scheme("low16r8+int8"), parse_scheme("low16r8.sequency+int8/tensor:tensor"));
  EXPECT_TRUE(parse_scheme("exact").is_exact());
  EXPECT_TRUE(parse_scheme("none").is_exact());
}

TEST(SchemeParser, ReadsEveryField) {
  const Scheme scheme = parse_scheme("low64r12.lp_l1+int4/row:column/stochastic");
  EXPECT_EQ(scheme.transform, (Transform{Transform::Kind::lowrank, 64, 12, Basis::lp_l1}));
  EXPECT_EQ(scheme.format, Format::int4);
  EXPECT_EQ(scheme.granularity, Granularity::row);
  EXPECT_EQ(scheme.other, Granularity::column);
  EXPECT_EQ(scheme.rounding, Rounding::stochastic);
}

TEST(SchemeParser, OrdersArePowersOfTwoUpTo1024) {
  for (const char* legal : {"had2", "had1024", "low1024r1024", "low2r1"}) {
    EXPECT_EQ(message_of(legal).substr(0, 8), "accepted") << legal;
  }
  for (const char* wrong : {"had1", "had0", "had12", "had2048", "had99999999999999", "low3r1"}) {
    EXPECT_THAT(message_of(wrong), HasSubstr("power of two from 2 to 1024")) << wrong;
  }
}

TEST(SchemeParser, RankIsFromOneToTheOrder) {
  EXPECT_THAT(message_of("low16r0"), HasSubstr("rank 0 is not from 1 to the block order 16"));
  EXPECT_THAT(message_of("low16r17"), HasSubstr("rank 17 is not from 1"));
}

TEST(SchemeParser, LpL1NeedsASquareOrder) {
  EXPECT_THAT(message_of("low32r4.lp_l1"), HasSubstr("square block order"));
  EXPECT_THAT(message_of("low16r4.lp_l1"), HasSubstr("accepted"));
}

TEST(SchemeParser, ReadsSpansRowsAndGrids) {
  const Transform sample = parse_scheme("rht16.sample197+int8").transform;
  EXPECT_EQ(sample.span, Span::sample);
  EXPECT_EQ(sample.sample_rows, 197);
  const Transform energy = parse_scheme("low16r4.energy-c3.sample+int8").transform;
  EXPECT_EQ(energy.kept, 0xc3U);
  EXPECT_FALSE(is_resolved(energy));
  EXPECT_EQ(parse_scheme("patch8r10.14x16p1").transform.grid, (Grid{1, 14, 16}));
  EXPECT_FALSE(is_resolved(parse_scheme("low16r4.energy+int8").transform));
  EXPECT_EQ(to_string(without_layer(parse_scheme("low16r4.energy-c3.sample9"))),
            "low16r4.energy.sample");
}

TEST(SchemeParser, ReadsBothOperandsFormatsBlocksAndOutliers) {
  const Scheme scheme = parse_scheme("none+luq4:int4/block32:column/stochastic+oe8");
  EXPECT_EQ(scheme.format, Format::luq4);
  EXPECT_EQ(scheme.format_of_other(), Format::int4);
  EXPECT_EQ(scheme.granularity, Granularity::block);
  EXPECT_EQ(scheme.block, 32);
  EXPECT_EQ(scheme.outliers, 8);
  EXPECT_EQ(parse_scheme("none+int8:int8"), parse_scheme("none+int8"));
  EXPECT_EQ(to_string(parse_scheme("rht16+nvfp4/stochastic")), "rht16+nvfp4/stochastic");
}

TEST(SchemeParser, TyposNameThePartAndWhatIsKnown) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hat16+int8", "unknown transform 'hat16'; known: none, had<n>[.<span>]"},
      {"had+int8", "unknown transform 'had'"},
      {"had-4", "unknown transform 'had-4'"},
      {"had16x+int8", "unknown transform 'had16x'"},
      {"low16", "unknown transform 'low16'"},
      {"rht", "unknown transform 'rht'"},
      {"Had16", "unknown transform 'Had16'"},
      {" had16", "unknown transform ' had16'"},
      {"low16r8.seq", "unknown basis 'seq'; known: sequency, lp_l1, energy"},
      {"low16r2.energy-ff", "energy-ff doesn't name 2 of the 16 rows"},
      {"low128r8.energy", "basis energy needs a block order up to 64, not 128"},
      {"low16r8.lp_l1.divisor", "its basis is sequency, not lp_l1"},
      {"had16.samples", "unknown span 'samples'; known: flat, sample, divisor"},
      {"had16.flat7", "unknown span 'flat7'"},
      {"patch7r3", "patch side 7 is not a power of two"},
      {"patch8r65", "rank 65 is not from 1 to the 64 functions"},
      {"patch8r10.7", "unknown grid '7'"},
      {"patch8r10+int8", "patches stay float"},
      {"none+nvfp4/row", "nvfp4 has a scale per 16 of the contraction by itself"},
      {"none+int8/block8:block4", "blocks are of the same length, not 8 and 4"},
      {"none+int8/block0", "the number is not from 1 to 1048576"},
      {"none+int8/block", "unknown granularity 'block'"},
      {"had16+oe4", "needs a product that isn't exact"},
      {"none+int8+oe0", "the number is not from 1"},
      {"low16r8.", "unknown basis ''"},
      {"none+int5", "unknown format 'int5'; known: int8, int4, fp8e4m3"},
      {"none+", "unknown format ''"},
      {"none+int8/rows", "unknown granularity 'rows'; known: tensor, row, column, block<k>"},
      {"none+int8/row:", "unknown granularity ''"},
      {"none+int8/", "unknown granularity ''"},
      {"none+int8/row/up", "unknown rounding 'up'; known: nearest, stochastic"},
      {"none+int8/nearest/row", "nothing can follow the rounding, but 'row' does"},
      {"none+int8/row/nearest/x", "nothing can follow the rounding, but 'x' does"},
      {"none+int8+int4", "'+int4' is not understood"},
      {"exact+int8", "nothing can follow exact"},
      {"had16/row", "needs a format"},
      {"none/tensor/nearest", "needs a format"},
      {"", "it is empty"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(message_of(text), HasSubstr(expected));
    EXPECT_THAT(message_of(text), HasSubstr("scheme '" + text + "'"));
  }
}

}  // namespace
}  // namespace hot
