#include "analyzers/measure/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "analyzers/measure/error_stats.hpp"

namespace hot::measure {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

double weight_sum(const Axis& axis) {
  return std::accumulate(axis.weight.begin(), axis.weight.end(), 0.0);
}

TEST(SampleSize, SmallGradientsAreComparedWhole) {
  const SampleSize size = sample_size(64, 64, 64, 64, 0.02, 4096);
  EXPECT_EQ(size.rows, 64);
  EXPECT_EQ(size.cols, 64);
}

TEST(SampleSize, WorkOfOneIsEverything) {
  const SampleSize size = sample_size(1576, 768, 1576, 768, 1, 4096);
  EXPECT_EQ(size.rows, 1576);
  EXPECT_EQ(size.cols, 768);
}

TEST(SampleSize, LargeGradientsStayWithinTheWork) {
  const SampleSize size = sample_size(1576, 768, 1576, 768, 0.02, 4096);
  const double share = static_cast<double>(size.rows * size.cols) / (1576.0 * 768.0);
  EXPECT_LE(share, 0.02);
  EXPECT_GE(share, 0.019);
}

TEST(SampleSize, NarrowGradientsTakeAllColumns) {
  const SampleSize size = sample_size(100000, 3, 100000, 3, 0.02, 4096);
  EXPECT_EQ(size.cols, 3);
  EXPECT_EQ(size.rows, 2000);
}

TEST(SampleSize, OnlyLiveRowsNeedComparing) {
  const SampleSize size = sample_size(1576, 768, 8, 768, 0.02, 4096);
  EXPECT_EQ(size.rows, 8);
  EXPECT_EQ(size.cols, 768);
}

TEST(ChooseAxis, WholeDimensionKeepsItsOrderAndWeightsOfOne) {
  const std::vector<double> energy = {1, 2, 3};
  const Axis axis = choose_axis(energy, 5, 0);
  EXPECT_THAT(axis.index, ElementsAre(0, 1, 2));
  EXPECT_THAT(axis.weight, Each(1.0));
}

TEST(ChooseAxis, IndicesWithoutEnergyAreNeverTaken) {
  const std::vector<double> energy = {0, 2, 0, 3};
  EXPECT_THAT(choose_axis(energy, 4, 0).index, ElementsAre(1, 3));
}

TEST(ChooseAxis, OutliersAreTakenWithCertaintyAndTheRestShareTheWeight) {
  std::vector<double> energy(100, 1.0);
  energy[17] = 1000;
  energy[63] = 500;
  const Axis axis = choose_axis(energy, 16, 5);
  EXPECT_EQ(axis.index.size(), 16);
  EXPECT_TRUE(std::is_sorted(axis.index.begin(), axis.index.end()));
  EXPECT_EQ(std::adjacent_find(axis.index.begin(), axis.index.end()), axis.index.end());
  EXPECT_NEAR(weight_sum(axis), 100, 1e-9);
  for (std::size_t i = 0; i < axis.index.size(); ++i) {
    const bool outlier = axis.index[i] == 17 || axis.index[i] == 63;
    EXPECT_DOUBLE_EQ(axis.weight[i], outlier ? 1 : 7) << axis.index[i];
  }
  EXPECT_EQ(std::count(axis.weight.begin(), axis.weight.end(), 1.0), 2);
}

TEST(ChooseAxis, SeedDecidesTheChoice) {
  const std::vector<double> energy(1000, 1.0);
  EXPECT_EQ(choose_axis(energy, 50, 1).index, choose_axis(energy, 50, 1).index);
  EXPECT_NE(choose_axis(energy, 50, 1).index, choose_axis(energy, 50, 2).index);
}

TEST(ChooseAxis, SamplesSpreadOverTheWholeRange) {
  const std::vector<double> energy(1000, 1.0);
  const Axis axis = choose_axis(energy, 100, 3);
  for (std::int64_t tenth = 0; tenth < 1000; tenth += 100) {
    const auto in_tenth = std::count_if(axis.index.begin(), axis.index.end(),
                                        [&](auto i) { return i >= tenth && i < tenth + 100; });
    EXPECT_GT(in_tenth, 1) << tenth;
  }
}

TEST(StudentT, MatchesTheTables) {
  EXPECT_NEAR(student_t(1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t(3), 3.1824, 1e-4);
  EXPECT_NEAR(student_t(11), 2.2010, 2e-4);
  EXPECT_NEAR(student_t(30), 2.0423, 1e-4);
  EXPECT_NEAR(student_t(1000), 1.9623, 1e-4);
}

/// A gradient whose rows have lognormal magnitudes, and an estimate with noise like them.
struct Skewed {
  static constexpr std::size_t kRows = 600;
  static constexpr std::size_t kCols = 80;
  std::vector<float> exact, estimate;
  std::vector<double> row_energy, col_energy;

  Skewed() : row_energy(kRows), col_energy(kCols) {
    std::mt19937 generator(11);
    std::normal_distribution<double> normal;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double size = std::exp(normal(generator));
      for (std::size_t j = 0; j < kCols; ++j) {
        const double g = size * normal(generator);
        exact.push_back(static_cast<float>(g));
        estimate.push_back(static_cast<float>(g + 0.1 * size * normal(generator)));
        row_energy[i] += g * g;
        col_energy[j] += g * g;
      }
    }
  }

  [[nodiscard]] Metrics compare(const Axis& rows, const Axis& cols) const {
    std::vector<float> g, e;
    for (const auto i : rows.index) {
      for (const auto j : cols.index) {
        g.push_back(exact[static_cast<std::size_t>(i) * kCols + static_cast<std::size_t>(j)]);
        e.push_back(estimate[static_cast<std::size_t>(i) * kCols + static_cast<std::size_t>(j)]);
      }
    }
    ErrorStats stats;
    stats.add({g.data(), e.data(), &rows, &cols});
    Metrics metrics;
    stats.write(metrics);
    return metrics;
  }
};

// 95 % intervals of 300 samples hold the whole gradient's value in 90 % of them at least, and are
// narrow enough to say something.
TEST(SampledErrors, IntervalsCoverTheWholeGradientsValue) {
  const Skewed data;
  const Metrics whole = data.compare(choose_axis(data.row_energy, Skewed::kRows, 0),
                                     choose_axis(data.col_energy, Skewed::kCols, 0));
  for (const char* name : {"relative_error", "cosine", "sqnr_db", "projection"}) {
    int covered = 0;
    double width = 0;
    constexpr int kTrials = 300;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto seed = static_cast<std::uint64_t>(trial);
      const Metrics part = data.compare(choose_axis(data.row_energy, 60, 2 * seed),
                                        choose_axis(data.col_energy, 20, 2 * seed + 1));
      const Metric& metric = *part.find(name);
      if (std::abs(metric.value - whole.value(name)) <= *metric.ci95) ++covered;
      width += *metric.ci95 / kTrials;
    }
    EXPECT_GE(covered, kTrials * 9 / 10) << name;
    if (std::string(name) == "relative_error") {
      EXPECT_LT(width, 0.02);
    }
  }
}

}  // namespace
}  // namespace hot::measure
