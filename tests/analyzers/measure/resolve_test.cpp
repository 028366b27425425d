#include "analyzers/measure/resolve.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "analyzers/measure/layer_products.hpp"
#include "tests/analyzers/measure/synthetic.hpp"

namespace hot::measure {
namespace {

backward::Operands linear(std::vector<std::int64_t> x) {
  backward::Operands o;
  o.x_sizes = x;
  o.gy = at::zeros(x);
  return o;
}

TEST(Resolve, TokensAreASquareBehindSomeOthers) {
  EXPECT_EQ(row_layout(linear({4, 196, 8}), 4).grid, (Grid{0, 14, 14}));
  EXPECT_EQ(row_layout(linear({4, 197, 8}), 4).grid, (Grid{1, 14, 14}));
  EXPECT_EQ(row_layout(linear({4 * 17, 8}), 4).grid, (Grid{1, 4, 4}));
  EXPECT_EQ(row_layout(linear({4, 7, 9, 8}), 4).grid, (Grid{0, 7, 9}));
  EXPECT_EQ(row_layout(linear({4, 128, 8}), 4).grid, Grid{});
  EXPECT_EQ(row_layout(linear({4, 8}), 4).grid, Grid{});  // a head: one row a sample
  EXPECT_EQ(row_layout(linear({4, 197, 8}), 4).sample_rows, 197);
}

TEST(Resolve, RowsInAnotherOrderHaveNoSamples) {
  EXPECT_EQ(row_layout(linear({197, 4, 8}), 4).sample_rows, 0);
  EXPECT_EQ(row_layout(linear({6, 8}), 4).sample_rows, 0);
  const RowLayout windows = row_layout(linear({16, 49, 8}), 4);  // four windows of each image
  EXPECT_EQ(windows.sample_rows, 4 * 49);
  EXPECT_EQ(windows.grid, Grid{});
}

TEST(Resolve, SchemesSayWhatTheyLack) {
  std::string why;
  EXPECT_FALSE(resolved(parse_scheme("patch8r10"), {17, {}}, why));
  EXPECT_EQ(why, "its rows are no image or grid of patches");
  EXPECT_EQ(to_string(*resolved(parse_scheme("low16r8.sequency.sample+int8"), {17, {}}, why)),
            "low16r8.sequency.sample17+int8/tensor/nearest");
  EXPECT_EQ(to_string(*resolved(parse_scheme("patch8r10"), {17, {1, 4, 4}}, why)),
            "patch8r10.4x4p1");
}

// Operands whose blocks hold nothing but two sequencies: those are kept, and nothing is lost.
TEST(Resolve, EnergyKeepsTheRowsThatHoldIt) {
  backward::Operands o = synthetic({.name = "linear", .x = {64, 12}, .weight = {8, 12}}, 3);
  at::Tensor basis = at::ones({16, 2});
  for (int i = 0; i < 16; ++i) basis[i][1] = i < 4 || (i >= 8 && i < 12) ? 1 : -1;  // sequency 3
  o.x = at::mm(at::block_diag({basis, basis, basis, basis}), at::randn({8, 12}));
  Options options;
  options.work = 1;
  OutputGradient gy{o.gy.contiguous(), energies(o.gy.contiguous())};
  const Scheme wanted = parse_scheme("low16r2.energy");
  const Product product = grad_weight_product(o, gy, {wanted}, options, 0);
  const Scheme chosen = with_energy_rows(wanted, product);
  EXPECT_EQ(to_string(chosen), "low16r2.energy-9");
  EXPECT_EQ(with_energy_rows(chosen, product), chosen);
}

}  // namespace
}  // namespace hot::measure
