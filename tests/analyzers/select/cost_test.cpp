#include "analyzers/select/cost.hpp"

#include <gtest/gtest.h>

#include "core/scheme_parts.hpp"
#include "tests/analyzers/select/fixture.hpp"
#include "tests/core/all_schemes.hpp"

namespace hot::select {
namespace {

PathWork one(GemmShape shape) {
  return {{shape}, 1, shape.flops()};
}

/// Share of the exact product's multiplications and operand width that is left, without padding or
/// passes.
double ideal(const Scheme& scheme) {
  const double width = scheme.format == Format::none ? 1 : bits(scheme.format) / 32.0;
  const Transform& t = scheme.transform;
  if (t.kind == Transform::Kind::patch) return width * t.rank / (t.order * t.order);
  if (t.span == Span::divisor) return width;  // of 49 rows: nothing is left out
  return width * t.rank / t.order;
}

// Passes grow with the operands, the product with the cube: they vanish for huge products, never
// below the product.
TEST(Cost, TendsToTheProductsShareForEveryScheme) {
  const PathWork huge = one({1 << 17, 1 << 17, 1 << 17, 1});
  for (const Scheme& scheme : hot::testing::all_schemes()) {
    EXPECT_GE(modelled_cost(scheme, huge), ideal(scheme)) << to_string(scheme);
    EXPECT_LT(modelled_cost(scheme, huge), ideal(scheme) + 0.001) << to_string(scheme);
  }
}

TEST(Cost, TinyProductsDoNotPayWhateverTheScheme) {
  const PathWork tiny = one({4, 4, 4, 1});
  for (const Scheme& scheme : hot::testing::all_schemes()) {
    if (!scheme.is_exact()) {
      EXPECT_GT(modelled_cost(scheme, tiny), 1) << to_string(scheme);
    }
  }
  EXPECT_EQ(modelled_cost(Scheme{}, tiny), 1);
}

// By hand: k = 17 is padded to 32. Product 32/17 · 8/32. Operands: 2 passes of 14 + 4 operations on
// (100 + 200)·32 elements, result 14 on 100·200, over 2·100·200·17 operations.
TEST(Cost, CountsPaddingAndPasses) {
  const double product = 32.0 / 17 * 8 / 32;
  const double passes = (36.0 * 300 * 32 + 14.0 * 100 * 200) / (2.0 * 100 * 200 * 17);
  EXPECT_NEAR(modelled_cost(parse_scheme("had16+int8"), one({100, 200, 17, 1})), product + passes,
              1e-12);
}

// Half rank in float: half the product, one pass of 14 + 4 operations on the operands, and nothing
// on the result.
TEST(Cost, FloatProductsNeedOnePass) {
  const double passes = 18.0 * (100 + 200) * 64 / (2.0 * 100 * 200 * 64);
  EXPECT_NEAR(modelled_cost(parse_scheme("low16r8"), one({100, 200, 64, 1})), 0.5 + passes, 1e-12);
}

TEST(Cost, GroupsCostWhatEachOfThemCosts) {
  const Scheme scheme = parse_scheme("had16+int8");
  EXPECT_DOUBLE_EQ(modelled_cost(scheme, one({64, 64, 64, 8})),
                   modelled_cost(scheme, one({64, 64, 64, 1})));
}

TEST(Cost, ShapesAreWeightedByTheirFlops) {
  const Scheme scheme = parse_scheme("none+int8");
  const GemmShape small{16, 16, 16, 1};
  const GemmShape large{512, 512, 512, 1};
  const double a = modelled_cost(scheme, one(small));
  const double b = modelled_cost(scheme, one(large));
  const double expected =
      (a * static_cast<double>(small.flops()) + b * static_cast<double>(large.flops())) /
      static_cast<double>(small.flops() + large.flops());
  EXPECT_NEAR(modelled_cost(scheme, {{small, large}, 2, small.flops() + large.flops()}), expected,
              1e-12);
}

// methods.md, section 3: half the rank in int8 keeps 12.5 % of FP32.
TEST(SavedFraction, OfLinearLayers) {
  const LayerTrace layer = testing::linear("a");
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("exact"), layer), 1);
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("low16r8+int8"), layer), 0.125);
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("low16r8+int4"), layer), 0.125);
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("low16r8"), layer), 0.5);
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("none+int8"), layer), 0.25);
}

// Unfolded 3×3: 576 = 9 · 64, 9 · 1/2 · 1/4 = 112 % of the input, so the int8 input (25 %) is kept;
// without a format nothing is gained.
TEST(SavedFraction, OfConvolutionsIsTheSmallerWayToKeep) {
  LayerTrace layer = testing::linear("a", {4096, 576, 128, 1}, {128, 576, 4096, 1});
  layer.kind = LayerKind::conv;
  layer.weight_shape = {128, 64, 3, 3};
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("low16r8+int8"), layer), 0.25);
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("low16r8"), layer), 1);
  EXPECT_EQ(input_bytes(layer), 4.0 * 4096 * 64);
  layer.weight_shape = {128, 64, 1, 1};
  EXPECT_EQ(modelled_saved_fraction(parse_scheme("low16r8+int8"), layer), 0.125);
}

TEST(SavedFraction, InputBytesCountEveryCall) {
  LayerTrace layer = testing::linear("a");
  EXPECT_EQ(input_bytes(layer), 4.0 * 4096 * 2048);
  layer.path(Path::grad_weight).calls = 3;
  EXPECT_EQ(input_bytes(layer), 3 * 4.0 * 4096 * 2048);
  layer.path(Path::grad_weight) = {};
  EXPECT_EQ(input_bytes(layer), 0);
}

}  // namespace
}  // namespace hot::select
