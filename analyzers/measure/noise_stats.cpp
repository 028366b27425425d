#include "analyzers/measure/noise_stats.hpp"

#include <algorithm>
#include <cmath>

namespace hot::measure {
namespace {

/// Sums of ē² by rows and columns, into position `at` of the triples.
void add_mean_error(const std::vector<double>& error_sum, int draws, const Axis& rows,
                    const Axis& cols, std::size_t at, MarginSums& sums) {
  const std::size_t width = cols.index.size();
  for (std::size_t i = 0; i < rows.index.size(); ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      const double mean = error_sum[i * width + j] / draws;
      sums.rows[i][at] += cols.weight[j] * mean * mean;
      sums.cols[j][at] += rows.weight[i] * mean * mean;
    }
  }
}

// Position of the squared bias in the triples of NoiseStats; the squared deviation comes first.
constexpr std::size_t kBiasSquared = 1;

}  // namespace

NoiseStats::Call::Call(const Axis& rows, const Axis& cols, bool several)
    : rows_(rows), cols_(cols), error_sum_(several ? rows.index.size() * cols.index.size() : 0) {}

void NoiseStats::Call::add_draw(const Comparison& block) {
  const MarginSums sums = compare(block, largest_);
  totals_.push_back(total(sums, rows_.weight));
  sums_.add(sums);
  for (std::size_t i = 0; i < error_sum_.size(); ++i) {
    error_sum_[i] += static_cast<double>(block.estimate[i]) - static_cast<double>(block.exact[i]);
  }
  ++draws_;
}

void NoiseStats::add(const Call& call, ErrorStats& errors) {
  const double draws = call.draws_;
  MarginSums mean;
  mean.add(call.sums_, 1 / draws);
  errors.add(mean, call.totals_, call.rows_, call.cols_, call.largest_);
  if (call.draws_ < 2) return;

  MarginSums noise{std::vector<Triple>(mean.rows.size()), std::vector<Triple>(mean.cols.size())};
  add_mean_error(call.error_sum_, call.draws_, call.rows_, call.cols_, kBiasSquared, noise);
  const auto separate = [draws](std::vector<Triple>& to, const std::vector<Triple>& mean_of_draws) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const double of_mean = to[i][kBiasSquared];
      const double deviation2 = (mean_of_draws[i][kErrorSquared] - of_mean) * draws / (draws - 1);
      to[i] = {deviation2, of_mean - deviation2 / draws, mean_of_draws[i][kExactSquared]};
    }
  };
  separate(noise.rows, mean.rows);
  separate(noise.cols, mean.cols);
  if (!open_) batches_.emplace_back();
  open_ = true;
  batches_.back().add(noise, call.rows_.weight, call.cols_.weight, Rows::random);
}

void NoiseStats::end_batch() {
  open_ = false;
}

void NoiseStats::write(Metrics& metrics, double exact_squared) const {
  if (!batches_.empty()) {
    const Totals totals = across_batches(batches_);
    const auto [deviation2, bias2, exact2] = totals.values();
    const auto set = [&](const char* name, double square, Triple slopes) {
      const double ratio = square / exact2;
      slopes[kExactSquared] = -ratio / exact2;
      metrics.set(name, std::sqrt(std::max(0.0, ratio)), Origin::measured,
                  root_half_width(ratio, totals.half_width(slopes)));
    };
    set("bias", bias2, {0, 1 / exact2, 0});
    set("deviation", deviation2, {1 / exact2, 0, 0});
  }
  metrics.set("deviation_closed_form", std::sqrt(closed_form_ / exact_squared), Origin::modelled);
}

}  // namespace hot::measure
