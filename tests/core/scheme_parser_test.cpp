#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// Every part that methods.md names and this version lacks is refused by its name, with what there
// is instead.
TEST(SchemeParser, UnavailablePartsAreNoTypos) {
  for (const UnavailablePart& part : unavailable_parts()) {
    std::string name(part.name);
    if (const auto number = name.find('<'); number != std::string::npos) {
      name.replace(number, std::string::npos, "32");
    }
    std::string text;
    if (part.part == "transform") text = name + "+int8";
    if (part.part == "basis") text = "low16r8." + name + "+int8";
    if (part.part == "format") text = "had16+" + name + "/tensor/nearest";
    if (part.part == "granularity") text = "none+int8/" + name;
    if (part.part == "outlier extraction") text = "none+int8/tensor/nearest+" + name;
    ASSERT_FALSE(text.empty()) << part.part;
    EXPECT_THROW((void)parse_scheme(text), SchemeUnavailable) << text;
    EXPECT_THAT(message_of(text), HasSubstr("'" + name + "' is not available yet"));
    EXPECT_THAT(message_of(text), HasSubstr("scheme '" + text + "'"));
  }
  EXPECT_THROW((void)parse_scheme("had16+oe8"), SchemeUnavailable);
}

TEST(SchemeParser, TyposNameThePartAndWhatIsKnown) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"hat16+int8", "unknown transform 'hat16'; known: none, had<n>"},
      {"had+int8", "unknown transform 'had'"},
      {"had-4", "unknown transform 'had-4'"},
      {"had16x+int8", "unknown transform 'had16x'"},
      {"low16", "unknown transform 'low16'"},
      {"rht", "unknown transform 'rht'"},
      {"Had16", "unknown transform 'Had16'"},
      {" had16", "unknown transform ' had16'"},
      {"low16r8.seq", "unknown basis 'seq'; known: sequency, lp_l1"},
      {"low16r8.", "unknown basis ''"},
      {"none+int5", "unknown format 'int5'; known: int8, int4"},
      {"none+", "unknown format ''"},
      {"none+int8/rows", "unknown granularity 'rows'; known: tensor, row, column"},
      {"none+int8/row:", "unknown granularity ''"},
      {"none+int8/", "unknown granularity ''"},
      {"none+int8/row/up", "unknown rounding 'up'; known: nearest, stochastic"},
      {"none+int8/nearest/row", "nothing can follow the rounding, but 'row' does"},
      {"none+int8/row/nearest/x", "nothing can follow the rounding, but 'x' does"},
      {"none+int8+int4", "'+int4' is not understood"},
      {"exact+int8", "nothing can follow exact"},
      {"had16/row", "needs an integer format"},
      {"none/tensor/nearest", "needs an integer format"},
      {"", "it is empty"},
  };
  for (const auto& [text, expected] : cases) {
    EXPECT_THAT(message_of(text), HasSubstr(expected));
    EXPECT_THAT(message_of(text), HasSubstr("scheme '" + text + "'"));
    try {
      (void)parse_scheme(text);
    } catch (const SchemeUnavailable&) {
      ADD_FAILURE() << text << " is a typo";
    } catch (const UsageError&) {
    }
  }
}

}  // namespace
}  // namespace hot
