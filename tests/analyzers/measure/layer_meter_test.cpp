#include "analyzers/measure/layer_meter.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "analyzers/measure/portfolio.hpp"
#include "core/errors.hpp"
#include "kernels/backward.hpp"
#include "tests/analyzers/measure/synthetic.hpp"

namespace hot::measure {
namespace {

using backward::Operands;
using ::testing::HasSubstr;

ErrorTable measured(const std::vector<Operands>& calls, const Options& options) {
  LayerMeter meter("layer", options.schemes.empty() ? default_portfolio() : options.schemes,
                   options);
  for (const Operands& call : calls) meter.add(call);
  ErrorTable table;
  meter.write(table);
  return table;
}

/// The gradient by `scheme` of a whole call, by the kernels themselves.
at::Tensor by_kernels(const Operands& o, Path path, const Scheme& scheme, std::uint64_t seed) {
  const at::Tensor gy = gy_matrix(o).contiguous();
  if (path == Path::grad_weight) return kernels::grad_weight(gy, x_matrix(o), scheme, seed);
  return grad_input_from_matrix(o, kernels::grad_input(gy, weight_matrix(o), scheme, seed));
}

struct Expected {
  double relative_error, cosine, projection;
};

/// The measures in float64, from their definitions.
Expected direct(const at::Tensor& exact, const at::Tensor& estimate) {
  const at::Tensor g = exact.to(at::kDouble).reshape(-1);
  const at::Tensor e = estimate.to(at::kDouble).reshape(-1);
  const double dot = g.dot(e).item<double>();
  const double norm = g.norm().item<double>();
  return {(e - g).norm().item<double>() / norm, dot / (norm * e.norm().item<double>()),
          dot / (norm * norm)};
}

class WholeGradient : public ::testing::TestWithParam<Synthetic> {};

// Compared whole, every scheme's measures are those of the kernels' own gradient: of the layer's
// real input, not of its unfolded one.
TEST_P(WholeGradient, EqualsTheKernelsGradient) {
  const Operands o = synthetic(GetParam(), 3);
  Options options;
  options.work = 1;
  options.seeds = 1;
  options.seed = 5;
  options.schemes = whole_portfolio();
  options.samples = o.x_sizes[0];
  const ErrorTable table = measured({o}, options);
  EXPECT_GT(table.rows.size(), 2 * 200U);
  for (const ErrorRow& row : table.rows) {
    // Where windows overlap, gy is drawn for each place by itself: other draws, same distribution.
    if (row.scheme.rounding == Rounding::stochastic && GetParam().overlapping) continue;
    const at::Tensor exact = by_kernels(o, row.path, Scheme{}, 0);
    const Expected expected = direct(exact, by_kernels(o, row.path, row.scheme, options.seed));
    const std::string what = std::string(to_string(row.path)) + " " + to_string(row.scheme);
    EXPECT_NEAR(row.metrics.value("relative_error"), expected.relative_error, 2e-6) << what;
    EXPECT_NEAR(row.metrics.value("cosine"), expected.cosine, 2e-6) << what;
    EXPECT_NEAR(row.metrics.value("projection"), expected.projection, 2e-6) << what;
  }
}

INSTANTIATE_TEST_SUITE_P(Layers, WholeGradient, ::testing::ValuesIn(synthetic_layers()),
                         [](const auto& info) { return info.param.name; });

// Larger than what is unfolded at once.
TEST(GradWeight, OfAnInputUnfoldedInPartsIsTheSame) {
  const Operands o = synthetic({.name = "large",
                                .x = {1, 48, 200, 210},
                                .weight = {4, 48, 3, 3},
                                .window = window({3, 3}, 1, 1, 1)},
                               1);
  Options options;
  options.work = 1;
  options.schemes = {parse_scheme("had16+int4/tensor/nearest")};
  const ErrorTable table = measured({o}, options);
  const ErrorRow& row = *table.find("layer", Path::grad_weight, options.schemes[0]);
  const Expected expected =
      direct(by_kernels(o, row.path, Scheme{}, 0), by_kernels(o, row.path, row.scheme, 0));
  EXPECT_NEAR(row.metrics.value("relative_error"), expected.relative_error, 2e-6);
}

// A sample's interval holds the whole gradient's value, for 9 in 10 of all measures at least.
TEST(SampledGradient, IntervalsHoldTheWholeGradientsValues) {
  const Operands o = synthetic({.name = "linear", .x = {600, 160}, .weight = {96, 160}}, 9);
  Options options;
  options.work = 1;
  for (const char* text : {"none+int8/tensor/nearest", "had16+int4/tensor/nearest",
                           "low16r8.sequency+int8/tensor/nearest", "had8+int4/tensor/stochastic"}) {
    options.schemes.push_back(parse_scheme(text));
  }
  const ErrorTable whole = measured({o}, options);
  options.work = 0.02;
  int covered = 0;
  int all = 0;
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    for (const ErrorRow& row : measured({o}, options).rows) {
      EXPECT_LT(row.metrics.value("entries"), 0.15 * 600 * 160);
      const ErrorRow& reference = *whole.find(row.layer, row.path, row.scheme);
      for (const char* name : {"relative_error", "cosine", "projection"}) {
        const Metric& metric = *row.metrics.find(name);
        ++all;
        if (std::abs(metric.value - reference.metrics.value(name)) <= *metric.ci95) ++covered;
      }
    }
  }
  EXPECT_EQ(all, 20 * 2 * 4 * 3);
  EXPECT_GE(covered, 0.9 * all);
}

class Rounded : public ::testing::TestWithParam<Synthetic> {};

// The closed form is derived without drawing; the drawn deviation's interval must hold it.
TEST_P(Rounded, ClosedFormAgreesWithMonteCarlo) {
  const Operands o = synthetic(GetParam(), 4);
  Options options;
  options.work = 1;
  options.seeds = 24;
  const ErrorTable table = measured({o}, options);
  int rows = 0;
  for (const ErrorRow& row : table.rows) {
    if (row.scheme.rounding != Rounding::stochastic) continue;
    const Metric& drawn = *row.metrics.find("deviation");
    const Metric& closed = *row.metrics.find("deviation_closed_form");
    const std::string what = std::string(to_string(row.path)) + " " + to_string(row.scheme);
    EXPECT_EQ(closed.origin, Origin::modelled);
    EXPECT_NEAR(closed.value, drawn.value, *drawn.ci95) << what;
    EXPECT_GT(*drawn.ci95, 0);
    EXPECT_LT(*drawn.ci95, 0.5 * drawn.value) << what;
    ++rows;
  }
  std::ptrdiff_t stochastic = 0;
  for (const Path path : {Path::grad_input, Path::grad_weight})
    stochastic += std::ranges::count(legal_schemes(default_portfolio(), path), Rounding::stochastic,
                                     &Scheme::rounding);
  EXPECT_EQ(rows, stochastic);
  EXPECT_GT(rows, 8);
}

// The same of every format, transform and extraction: 95 % intervals, so nearly all of them hold
// it.
TEST_P(Rounded, ClosedFormsOfAllSchemesAgreeWithMonteCarlo) {
  const Operands o = synthetic(GetParam(), 4);
  Options options;
  options.work = 1;
  options.seeds = 24;
  options.schemes = whole_portfolio();
  options.samples = o.x_sizes[0];
  int covered = 0;
  int rows = 0;
  for (const ErrorRow& row : measured({o}, options).rows) {
    if (row.scheme.rounding != Rounding::stochastic) continue;
    const Metric& drawn = *row.metrics.find("deviation");
    const double closed = row.metrics.value("deviation_closed_form");
    const std::string what = std::string(to_string(row.path)) + " " + to_string(row.scheme);
    EXPECT_NEAR(closed, drawn.value, 3 * *drawn.ci95) << what;
    if (std::abs(closed - drawn.value) <= *drawn.ci95) ++covered;
    ++rows;
  }
  EXPECT_GT(rows, 100);
  EXPECT_GE(covered, 0.9 * rows);
}

INSTANTIATE_TEST_SUITE_P(Layers, Rounded,
                         ::testing::Values(synthetic_layers()[0], synthetic_layers()[1]),
                         [](const auto& info) { return info.param.name; });

Operands linear() {
  return synthetic({.name = "linear", .x = {24, 16}, .weight = {12, 16}}, 2);
}

std::string refusal(const Operands& o) {
  try {
    (void)measured({o}, {});
  } catch (const ModelError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Operands, NaNAndInfinityAreRefusedByLayerAndOperand) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float value : {nan, inf, -inf}) {
    Operands o = linear();
    o.gy = o.gy.clone();
    o.gy[3][2] = value;
    EXPECT_THAT(refusal(o), HasSubstr("layer layer: the gradient of its output (gy)"));
    o = linear();
    o.x = o.x.clone();
    o.x[1][1] = value;
    EXPECT_THAT(refusal(o), HasSubstr("layer layer: the input (x)"));
    o = linear();
    o.weight = o.weight.clone();
    o.weight[1][1] = value;
    EXPECT_THAT(refusal(o), HasSubstr("layer layer: the weight"));
  }
}

TEST(Operands, ZeroGradientGivesANoteAndNoRows) {
  Operands o = linear();
  o.gy = at::zeros_like(o.gy);
  const ErrorTable table = measured({o}, {});
  EXPECT_TRUE(table.rows.empty());
  EXPECT_TRUE(table.lqs.empty());
  ASSERT_EQ(table.notes.size(), 2);
  EXPECT_THAT(table.notes[0], HasSubstr("grad_input is exactly zero in every call"));
}

TEST(Operands, CallsWithoutGradientChangeNothing) {
  Operands zero = linear();
  zero.gy = at::zeros_like(zero.gy);
  Options options;
  options.schemes = {parse_scheme("had16+int4/tensor/nearest")};
  const ErrorTable both = measured({linear(), zero}, options);
  const ErrorTable one = measured({linear()}, options);
  EXPECT_EQ(both.rows[0].metrics.value("relative_error"),
            one.rows[0].metrics.value("relative_error"));
  EXPECT_THAT(both.notes.at(0), HasSubstr("in 1 of 2 calls"));
}

// Only some tokens have a gradient, as below a class token: they alone are compared, all of them.
TEST(Operands, RowsWithoutGradientAreNotSampled) {
  Operands o = synthetic({.name = "linear", .x = {2000, 64}, .weight = {48, 64}}, 2);
  o.gy = o.gy.clone();
  o.gy.narrow(0, 0, 1990).zero_();
  o.need_grad_weight = false;
  Options options;
  options.schemes = {parse_scheme("had16+int4/tensor/nearest")};
  const ErrorTable table = measured({o}, options);
  EXPECT_EQ(table.rows.at(0).metrics.value("entries"), 10 * 64);
  EXPECT_EQ(table.rows[0].metrics.find("relative_error")->ci95, 0.0);
}

TEST(Operands, CallsAddTheirSquares) {
  const Operands a = linear();
  const Operands b = synthetic({.name = "linear", .x = {40, 16}, .weight = {12, 16}}, 8);
  Options options;
  options.schemes = {parse_scheme("none+int4/tensor/nearest")};
  const ErrorTable table = measured({a, b}, options);
  double error = 0;
  double exact = 0;
  for (const Operands& o : {a, b}) {
    const at::Tensor g = by_kernels(o, Path::grad_input, Scheme{}, 0);
    const at::Tensor e = by_kernels(o, Path::grad_input, options.schemes[0], 0) - g;
    error += std::pow(e.norm().item<double>(), 2);
    exact += std::pow(g.norm().item<double>(), 2);
  }
  const Metrics& m = table.find("layer", Path::grad_input, options.schemes[0])->metrics;
  EXPECT_NEAR(m.value("relative_error"), std::sqrt(error / exact), 1e-6);
  EXPECT_EQ(m.value("samples"), 2);
}

TEST(Operands, PathsThatAreNotNeededAreNotMeasured) {
  Operands o = linear();
  o.need_grad_weight = false;
  o.x = at::Tensor();
  Options options;
  options.schemes = {parse_scheme("had16+int4/tensor/nearest")};
  const ErrorTable table = measured({o}, options);
  ASSERT_EQ(table.rows.size(), 1);
  EXPECT_EQ(table.rows[0].path, Path::grad_input);
}

}  // namespace
}  // namespace hot::measure
