#include "analyzers/measure/error_stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "analyzers/measure/noise_stats.hpp"

namespace hot::measure {
namespace {

Axis whole(std::size_t count) {
  Axis axis;
  for (std::size_t i = 0; i < count; ++i) {
    axis.index.push_back(static_cast<std::int64_t>(i));
    axis.weight.push_back(1);
  }
  return axis;
}

struct Matrix {
  std::size_t rows, cols;
  std::vector<float> values;
};

void add(ErrorStats& stats, const Matrix& exact, const Matrix& estimate) {
  const Axis rows = whole(exact.rows);
  const Axis cols = whole(exact.cols);
  stats.add({exact.values.data(), estimate.values.data(), &rows, &cols});
}

Metrics metrics_of(const Matrix& exact, const Matrix& estimate) {
  ErrorStats stats;
  add(stats, exact, estimate);
  Metrics metrics;
  stats.write(metrics);
  return metrics;
}

// ‖ĝ−g‖ = 1, ‖g‖ = 5, ⟨g,ĝ⟩ = 21, ‖ĝ‖² = 18.
TEST(ErrorStats, HandDerivedMeasures) {
  const Metrics m = metrics_of({1, 2, {3, 4}}, {1, 2, {3, 3}});
  EXPECT_DOUBLE_EQ(m.value("relative_error"), 0.2);
  EXPECT_DOUBLE_EQ(m.value("cosine"), 21 / (5 * std::sqrt(18.0)));
  EXPECT_NEAR(m.value("sqnr_db"), 13.979400086720377, 1e-12);
  EXPECT_DOUBLE_EQ(m.value("max_abs_error"), 1);
  EXPECT_DOUBLE_EQ(m.value("projection"), 0.84);
}

TEST(ErrorStats, WholeGradientInOneBatchHasAnIntervalOfZeroWidth) {
  const Metrics m = metrics_of({2, 2, {3, 4, 1, 2}}, {2, 2, {3, 3, 2, 2}});
  for (const char* name : {"relative_error", "cosine", "sqnr_db", "projection"}) {
    EXPECT_EQ(m.find(name)->ci95, 0.0) << name;
  }
}

TEST(ErrorStats, ScaledGradientKeepsItsDirection) {
  const Metrics m = metrics_of({2, 2, {1, -2, 3, -4}}, {2, 2, {0.5, -1, 1.5, -2}});
  EXPECT_DOUBLE_EQ(m.value("cosine"), 1);
  EXPECT_DOUBLE_EQ(m.value("projection"), 0.5);
  EXPECT_DOUBLE_EQ(m.value("relative_error"), 0.5);
}

TEST(ErrorStats, ZeroEstimateLosesEverythingWithoutNaN) {
  const Metrics m = metrics_of({1, 3, {0.1F, 0.7F, -0.3F}}, {1, 3, {0, 0, 0}});
  EXPECT_DOUBLE_EQ(m.value("relative_error"), 1);
  EXPECT_EQ(m.value("cosine"), 0);
  EXPECT_EQ(m.value("projection"), 0);
  EXPECT_EQ(m.value("sqnr_db"), 0);
}

TEST(ErrorStats, NoErrorHasNoSqnr) {
  const Metrics m = metrics_of({1, 2, {3, 4}}, {1, 2, {3, 4}});
  EXPECT_EQ(m.value("relative_error"), 0);
  EXPECT_EQ(m.find("sqnr_db"), nullptr);
}

TEST(ErrorStats, ZeroGradientIsSaidAndNeverDividedBy) {
  ErrorStats stats;
  add(stats, {1, 2, {0, 0}}, {1, 2, {0, 0}});
  EXPECT_TRUE(stats.zero_gradient());
  Metrics metrics;
  EXPECT_THROW(stats.write(metrics), std::logic_error);
}

TEST(ErrorStats, CallsAddAsIfTheyWereOneGradient) {
  ErrorStats stats;
  add(stats, {1, 2, {3, 4}}, {1, 2, {3, 3}});
  add(stats, {1, 2, {5, -6}}, {1, 2, {4, -6.5}});
  Metrics m;
  stats.write(m);
  const Metrics together = metrics_of({2, 2, {3, 4, 5, -6}}, {2, 2, {3, 3, 4, -6.5}});
  for (const char* name : {"relative_error", "cosine", "sqnr_db", "max_abs_error", "projection"}) {
    EXPECT_NEAR(m.value(name), together.value(name), 1e-14) << name;
  }
}

// Per batch ‖g‖² = 1 and ‖ĝ−g‖² = 0.01, 0.03: the ratio 0.02 has standard error 0.01 on one degree
// of freedom, half width 0.127062, and √(0.02 + 0.127062) − √0.02 = 0.242066.
TEST(ErrorStats, SeveralBatchesGiveAnIntervalFromTheirSpread) {
  ErrorStats stats;
  add(stats, {1, 1, {1}}, {1, 1, {1.1F}});
  stats.end_batch();
  add(stats, {1, 1, {1}}, {1, 1, {1 + std::sqrt(0.03F)}});
  stats.end_batch();
  Metrics m;
  stats.write(m);
  EXPECT_NEAR(m.value("relative_error"), std::sqrt(0.02), 1e-7);
  EXPECT_NEAR(*m.find("relative_error")->ci95, 0.242066, 1e-5);
}

class Golden : public ::testing::TestWithParam<const char*> {};

Matrix matrix(const nlohmann::json& j) {
  Matrix m{j.at("shape").at(0), j.at("shape").at(1), {}};
  for (const auto& value : j.at("data")) m.values.push_back(value.get<float>());
  return m;
}

TEST_P(Golden, MetricsAreReproducedFromTheGoldenResults) {
  std::ifstream file(std::string(HOT_SOURCE_DIR "/tests/golden/") + GetParam());
  const auto golden = nlohmann::json::parse(file);
  int cases = 0;
  for (const auto& [path, exact] : {std::pair{"grad_input", "gx"}, {"grad_weight", "gw"}}) {
    const Matrix g = matrix(golden.at(exact));
    for (const auto& expected : golden.at(path)) {
      const Metrics m = metrics_of(g, matrix(expected.at("result")));
      const auto& metrics = expected.at("metrics");
      EXPECT_NEAR(m.value("relative_error"), metrics.at("relative_error"), 1e-7);
      EXPECT_NEAR(m.value("cosine"), metrics.at("cosine"), 1e-7);
      EXPECT_NEAR(m.value("max_abs_error"), metrics.at("max_abs_error"), 1e-5);
      if (!metrics.at("sqnr_db").is_null()) {
        EXPECT_NEAR(m.value("sqnr_db"), metrics.at("sqnr_db"), 1e-3);
      }
      ++cases;
    }
  }
  EXPECT_EQ(cases, 80);
}

INSTANTIATE_TEST_SUITE_P(Files, Golden,
                         ::testing::Values("backward_37x20x11.json", "backward_48x32x24.json",
                                           "backward_197x16x24.json"));

struct Noise {
  ErrorStats errors;
  NoiseStats noise;
  Metrics metrics;
};

Noise noise_of(const Matrix& exact, const std::vector<Matrix>& draws) {
  Noise result;
  const Axis rows = whole(exact.rows);
  const Axis cols = whole(exact.cols);
  NoiseStats::Call call(rows, cols, draws.size() > 1);
  for (const Matrix& draw : draws) {
    call.add_draw({exact.values.data(), draw.values.data(), &rows, &cols});
  }
  result.noise.add(call, result.errors);
  result.noise.write(result.metrics, result.errors.exact_squared());
  result.errors.write(result.metrics);
  return result;
}

// Errors ±1 in one of two entries: deviation² = (1 + 1)/(2 − 1), ‖g‖² = 2, no mean error; the
// noise of the mean is taken off the bias, which stays at zero.
TEST(NoiseStats, PureNoiseHasNoBias) {
  const Noise n = noise_of({1, 2, {1, 1}}, {{1, 2, {2, 1}}, {1, 2, {0, 1}}});
  EXPECT_DOUBLE_EQ(n.metrics.value("deviation"), 1);
  EXPECT_EQ(n.metrics.value("bias"), 0);
  EXPECT_DOUBLE_EQ(n.metrics.value("relative_error"), std::sqrt(0.5));
}

TEST(NoiseStats, EqualDrawsHaveBiasAlone) {
  const Noise n = noise_of({1, 2, {1, 1}}, {{1, 2, {1.5, 1}}, {1, 2, {1.5, 1}}});
  EXPECT_EQ(n.metrics.value("deviation"), 0);
  EXPECT_DOUBLE_EQ(n.metrics.value("bias"), 0.5 / std::sqrt(2.0));
}

TEST(NoiseStats, OneDrawTellsNeither) {
  const Noise n = noise_of({1, 2, {1, 1}}, {{1, 2, {1.5, 1}}});
  EXPECT_EQ(n.metrics.find("deviation"), nullptr);
  EXPECT_EQ(n.metrics.find("bias"), nullptr);
  EXPECT_DOUBLE_EQ(n.metrics.value("relative_error"), 0.5 / std::sqrt(2.0));
}

// g = 1 everywhere, ĝ = 1.05 + 0.3·normal: bias 0.05 and deviation 0.3 lie in their intervals.
TEST(NoiseStats, IntervalsHoldTheTrueBiasAndDeviation) {
  std::mt19937 generator(7);
  std::normal_distribution<float> normal(0, 0.3F);
  const Matrix exact{200, 20, std::vector<float>(4000, 1)};
  std::vector<Matrix> draws(4, exact);
  for (Matrix& draw : draws) {
    for (float& value : draw.values) value = 1.05F + normal(generator);
  }
  const Noise n = noise_of(exact, draws);
  const Metric& bias = *n.metrics.find("bias");
  const Metric& deviation = *n.metrics.find("deviation");
  EXPECT_NEAR(bias.value, 0.05, *bias.ci95);
  EXPECT_NEAR(deviation.value, 0.3, *deviation.ci95);
  EXPECT_LT(*deviation.ci95, 0.01);
  EXPECT_LT(*bias.ci95, 0.05);
}

}  // namespace
}  // namespace hot::measure
