#include "core/scheme.hpp"

#include <gtest/gtest.h>

#include <set>

#include "all_schemes.hpp"
#include "core/native_formats.hpp"
#include "core/scheme_parts.hpp"

namespace hot {
namespace {

TEST(Scheme, EverySchemeReadsBackFromItsText) {
  for (const Scheme& scheme : testing::all_schemes()) {
    EXPECT_EQ(parse_scheme(to_string(scheme)), scheme) << to_string(scheme);
  }
}

TEST(Scheme, DifferentSchemesHaveDifferentTexts) {
  std::set<std::string> texts;
  const auto schemes = testing::all_schemes();
  for (const Scheme& scheme : schemes) texts.insert(to_string(scheme));
  EXPECT_EQ(texts.size(), schemes.size());
}

TEST(Scheme, CanonicalTexts) {
  EXPECT_EQ(to_string(Scheme{}), "exact");
  EXPECT_EQ(to_string(parse_scheme("had16")), "had16");
  EXPECT_EQ(to_string(parse_scheme("none+int8")), "none+int8/tensor/nearest");
  EXPECT_EQ(to_string(parse_scheme("low16r8+int4/column:column/stochastic")),
            "low16r8.sequency+int4/column:column/stochastic");
}

// 2^(b-1)-1: the most negative code is left out, so that levels are symmetric.
TEST(Scheme, LevelsOfFormats) {
  EXPECT_EQ(max_level(Format::int8), 127);
  EXPECT_EQ(max_level(Format::int4), 7);
  EXPECT_EQ(max_level(Format::none), 0);
  EXPECT_EQ(bits(Format::none), 0);
  for (const FormatPart& part : format_parts()) {
    const bool integer = part.kind == FormatPart::Kind::integer;
    EXPECT_EQ(max_level(part.value), integer ? (1 << (part.bits - 1)) - 1 : 0) << part.name;
  }
}

/// The rule of methods.md from the other side: which dimension a scale varies along, and which one
/// is contracted.
bool scale_leaves_product(Granularity granularity, bool contracted_along_rows) {
  if (granularity == Granularity::tensor || granularity == Granularity::block) return true;
  const bool varies_along_rows = granularity == Granularity::row;
  return varies_along_rows != contracted_along_rows;
}

TEST(Scheme, IllegalExactlyWhereAScaleVariesAlongTheContraction) {
  for (const Scheme& scheme : testing::all_schemes()) {
    const bool quantized = scheme.format != Format::none;
    // grad_input: gy [L×O] and W [O×I] over O. grad_weight: gy [L×O] and x [L×I] over L.
    const bool along_channels = scheme.transform.span == Span::flat;  // samples are rows
    const bool input_legal =
        along_channels && (!quantized || (scale_leaves_product(scheme.granularity, false) &&
                                          scale_leaves_product(scheme.other, true)));
    const bool weight_legal = !quantized || (scale_leaves_product(scheme.granularity, true) &&
                                             scale_leaves_product(scheme.other, true));
    EXPECT_EQ(!why_illegal(scheme, Path::grad_input), input_legal) << to_string(scheme);
    EXPECT_EQ(!why_illegal(scheme, Path::grad_weight), weight_legal) << to_string(scheme);
    EXPECT_EQ(!why_illegal(scheme, Path::forward), scheme.is_exact()) << to_string(scheme);
  }
}

TEST(Scheme, ReasonsNameThePathTheOperandAndWhatIsLegal) {
  const auto reason = why_illegal(parse_scheme("none+int8/row/nearest"), Path::grad_weight);
  ASSERT_TRUE(reason);
  for (const char* word : {"grad_weight", "gy", "row", "column"}) {
    EXPECT_NE(reason->find(word), std::string::npos) << *reason;
  }
}

// What no device here runs: all but integers of one format.
TEST(Scheme, SimulatedSchemes) {
  for (const char* text : {"exact", "had16", "low16r8", "none+int8", "rht16+int4/block32",
                           "low16r8.energy-ff+int8", "had16+int4+oe4", "patch8r10"})
    EXPECT_FALSE(is_simulated(parse_scheme(text))) << text;
  for (const char* text : {"none+fp8e4m3", "none+luq4:int4", "none+int8:int4", "rht16+nvfp4"})
    EXPECT_TRUE(is_simulated(parse_scheme(text))) << text;
}

// On a GPU with FP8 products, what its tensor cores multiply; not two of e5m2, nor mixtures.
TEST(Scheme, Fp8IsNotSimulatedWhereTheDeviceMultipliesIt) {
  const std::vector<const char*> native = {"none+fp8e4m3", "had16+fp8e5m2:fp8e4m3/row",
                                           "low16r8+fp8e4m3:fp8e5m2/column/stochastic"};
  {
    const NativeFp8 gpu;
    for (const char* text : native) EXPECT_FALSE(is_simulated(parse_scheme(text))) << text;
    for (const char* text : {"none+fp8e5m2", "none+fp8e4m3:int8", "rht16+fp8e4m3",
                             "none+fp8e4m3/block32", "none+mxfp8", "none+int8:int4"})
      EXPECT_TRUE(is_simulated(parse_scheme(text))) << text;
    EXPECT_FALSE(is_simulated(parse_scheme("none+int8")));
  }
  for (const char* text : native) EXPECT_TRUE(is_simulated(parse_scheme(text))) << text;
}

TEST(Scheme, DivisorIsTheLargestPowerOfTwoOfASample) {
  const auto flat = [](const char* text) { return flat_transform(parse_scheme(text).transform); };
  EXPECT_EQ(flat("low16r8.divisor56"), parse_scheme("low8r4").transform);
  EXPECT_EQ(flat("low16r1.divisor4"), parse_scheme("low4r1").transform);
  EXPECT_EQ(flat("had16.divisor196"), parse_scheme("had4").transform);
  EXPECT_EQ(flat("low16r8.divisor197"), Transform{});
  EXPECT_TRUE(has_no_effect(parse_scheme("low16r8.divisor49").transform));
  EXPECT_FALSE(has_no_effect(parse_scheme("low16r8.divisor50").transform));
}

TEST(Scheme, EveryPartHasANameAndAnExplanation) {
  const auto check = [](const auto& table) {
    std::set<std::string_view> names;
    for (const auto& part : table) {
      EXPECT_FALSE(part.description.empty()) << part.name;
      EXPECT_TRUE(names.insert(part.name).second) << part.name;
    }
    EXPECT_FALSE(names.empty());
  };
  check(transform_parts());
  check(basis_parts());
  check(format_parts());
  check(granularity_parts());
  check(rounding_parts());
  check(span_parts());
}

}  // namespace
}  // namespace hot
