#include "models/inputs/input_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace hot::models {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = ValueSpec::Kind;

TEST(InputSpec, ABareShapeIsAFloatTensorByPosition) {
  const NamedSpec spec = parse_input("8x3x224x224");
  EXPECT_EQ(spec.name, "");
  EXPECT_EQ(spec.value, tensor_spec("float32", {8, 3, 224, 224}));
}

TEST(InputSpec, NameTypeShapeAndRange) {
  const NamedSpec spec = parse_input("tokens=int64:8x128:0..30521");
  EXPECT_EQ(spec.name, "tokens");
  EXPECT_EQ(spec.value, tensor_spec("int64", {8, 128}, ValueRange{0, 30521}));
  EXPECT_EQ(parse_value("float32:4:-1.5..2e1"), tensor_spec("float32", {4}, ValueRange{-1.5, 20}));
  EXPECT_EQ(parse_value("bool:8x128"), tensor_spec("bool", {8, 128}));
  EXPECT_EQ(parse_value("float32:scalar"), tensor_spec("float32", {}));
}

TEST(InputSpec, ScalarsKeepTheirKind) {
  EXPECT_EQ(parse_value("int:-3").integer, -3);
  EXPECT_EQ(parse_value("float:0.5").floating, 0.5);
  EXPECT_EQ(parse_value("bool:true").kind, Kind::boolean);
  EXPECT_EQ(parse_value("str:abc").text, "abc");
  EXPECT_EQ(parse_value("str:a,b]").text, "a,b]");
  EXPECT_EQ(parse_value("none").kind, Kind::none);
}

TEST(InputSpec, ContainersNest) {
  const ValueSpec dict = parse_value("{a:float32:2x3, b:(int64:2:0..9,none), c:[str:\"x,y\"]}");
  ASSERT_EQ(dict.kind, Kind::dict);
  EXPECT_THAT(dict.keys, ElementsAre("a", "b", "c"));
  EXPECT_EQ(dict.items[0], tensor_spec("float32", {2, 3}));
  EXPECT_EQ(dict.items[1].items[0], tensor_spec("int64", {2}, ValueRange{0, 9}));
  EXPECT_EQ(dict.items[2].items[0].text, "x,y");
  EXPECT_EQ(parse_value("[]").items.size(), 0U);
}

struct Bad {
  const char* text;
  const char* part;  ///< what the message must contain
};

class BadSpec : public ::testing::TestWithParam<Bad> {};

/// Whatever is wrong, the message quotes the flag and says what would be right, in one line.
TEST_P(BadSpec, IsRefusedWithTheReason) {
  try {
    static_cast<void>(parse_input(GetParam().text));
    FAIL() << GetParam().text << " was accepted";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(GetParam().text), HasSubstr(GetParam().part)));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSpec,
    ::testing::Values(Bad{"", "a value is missing"}, Bad{"x=", "a value is missing"},
                      Bad{"=8x3", "name before '='"}, Bad{"8x", "write sizes as"},
                      Bad{"8x-3", "sizes start at 1"}, Bad{"0x3", "sizes start at 1"},
                      Bad{"float33:8x3", "float32"}, Bad{"int64:8:9..0", "smaller end first"},
                      Bad{"int64:8:0", "LOW..HIGH"}, Bad{"uint8:8:0..256", "does not fit uint8"},
                      Bad{"float32:8:nan..1", "LOW..HIGH"}, Bad{"int:1.5", "int:16000"},
                      Bad{"float:x", "float:0.5"}, Bad{"[8x3", "']' is missing"},
                      Bad{"(8x3]", "')' is missing"}, Bad{"{8x3}", "KEY:value"},
                      Bad{"8x3)", "not a shape"}, Bad{"[8x3]x", "left over"},
                      Bad{"str:\"abc", "closing quote"},
                      Bad{"4000000000x4000000000x4000000000", "can be counted"},
                      Bad{"99999999999999999999", "not a shape"},
                      Bad{"[[[[[[[[[[[[[[[[[[[[8]]]]]]]]]]]]]]]]]]]]", "nested deeper"}));

TEST(InputSpec, DescriptionsAreForPeople) {
  EXPECT_EQ(describe(parse_value("int64:8x128:0..30521")), "int64 8x128 in 0..30521");
  EXPECT_EQ(describe(parse_value("{a:[4x4,none],b:bool:true}")),
            "{a: [float32 4x4, None], b: True}");
}

}  // namespace
}  // namespace hot::models
