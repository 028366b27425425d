#include "kernels/check/golden_check.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/scheme_parts.hpp"
#include "kernels/backward.hpp"
#include "kernels/common/basis.hpp"
#include "kernels/common/hadamard.hpp"

namespace hot::kernels {
namespace {

double frobenius(const at::Tensor& a) {
  return std::sqrt(a.square().sum().item<double>());
}

double largest(const at::Tensor& a) {
  return a.numel() == 0 ? 0 : a.abs().max().item<double>();
}

/// difference / reference; a difference from zero counts as it is. NaN counts as infinitely far.
double ratio(double difference, double reference) {
  const double value = difference == 0 ? 0 : difference / (reference > 0 ? reference : 1);
  return std::isnan(value) ? INFINITY : value;
}

GoldenMetrics metrics_of(const at::Tensor& estimate, const at::Tensor& exact) {
  const at::Tensor error = estimate - exact;
  const double exact_norm = frobenius(exact);
  GoldenMetrics metrics;
  metrics.relative_error = frobenius(error) / exact_norm;
  metrics.cosine = (estimate * exact).sum().item<double>() / (exact_norm * frobenius(estimate));
  metrics.sqnr_db = -20 * std::log10(metrics.relative_error);
  metrics.max_abs_error = largest(error);
  return metrics;
}

/// Error over signal that a ratio in dB stands for.
double error_ratio(const std::optional<double>& sqnr_db) {
  return sqnr_db ? std::pow(10, -*sqnr_db / 20) : 0;
}

MetricsDeviation deviation_of(const GoldenMetrics& ours, const GoldenMetrics& golden,
                              double exact_largest) {
  return {ratio(std::abs(ours.relative_error - golden.relative_error), 1),
          ratio(std::abs(ours.cosine - golden.cosine), 1),
          ratio(std::abs(error_ratio(ours.sqnr_db) - error_ratio(golden.sqnr_db)), 1),
          ratio(std::abs(ours.max_abs_error - golden.max_abs_error), exact_largest)};
}

Deviation check_case(const GoldenBackward& golden, const GoldenCase& one) {
  const bool input = one.path == Path::grad_input;
  const at::Tensor& exact = input ? golden.gx : golden.gw;
  const at::Tensor estimate = (input ? grad_input(golden.gy, golden.w, one.scheme, 0)
                                     : grad_weight(golden.gy, golden.x, one.scheme, 0))
                                  .to(at::kDouble);
  Deviation deviation;
  deviation.name = fmt::format("{} {}", to_string(one.path), to_string(one.scheme));
  deviation.result = ratio(largest(estimate - one.result), largest(one.result));
  deviation.metrics = deviation_of(metrics_of(estimate, exact), one.metrics, largest(exact));
  return deviation;
}

/// ‖gy − Q4(gy)‖₂ of untransformed gy (methods.md, section 3, "LQS").
double lqs_error(const at::Tensor& gy, Granularity granularity) {
  const Operand operand =
      prepare(gy, Along::rows, Transform{}, Format::int4, granularity, Rounding::nearest, 0);
  return frobenius(gy.to(at::kDouble) - dequantized(operand).to(at::kDouble));
}

Deviation check_lqs(const GoldenBackward& golden) {
  const double tensor = lqs_error(golden.gy, Granularity::tensor);
  const double row = lqs_error(golden.gy, Granularity::row);
  const Granularity choice = row < 0.5 * tensor ? Granularity::row : Granularity::tensor;
  Deviation deviation;
  deviation.name = "lqs";
  deviation.result =
      std::max(ratio(std::abs(tensor - golden.lqs->error_tensor), golden.lqs->error_tensor),
               ratio(std::abs(row - golden.lqs->error_row), golden.lqs->error_row));
  deviation.same = choice == golden.lqs->choice;
  deviation.comment = fmt::format("{} (e_t {:.6g}, e_r {:.6g}){}", to_string(choice), tensor, row,
                                  deviation.same ? "" : ", the file chooses the other one");
  return deviation;
}

std::vector<int> rows_of(const std::vector<int>& sequencies, int order) {
  std::vector<int> rows;
  for (const int sequency : sequencies) rows.push_back(row_of_sequency(sequency, order));
  return rows;
}

Deviation check_basis(const GoldenBasis& golden) {
  const int order = golden.order;
  std::vector<int> sequencies;
  for (int row = 0; row < order; ++row) sequencies.push_back(sequency_of_row(row, order));
  Deviation deviation;
  deviation.name = fmt::format("basis of order {}", order);
  const auto compare = [&](const char* what, const std::vector<int>& ours,
                           const std::vector<int>& theirs) {
    if (ours == theirs) return;
    deviation.same = false;
    deviation.comment += fmt::format("{}{} differs", deviation.comment.empty() ? "" : ", ", what);
  };
  compare("sequency_of_row", sequencies, golden.sequency_of_row);
  compare("rows_by_sequency", rows_of(sequencies_in_order(order, Basis::sequency), order),
          golden.rows_by_sequency);
  if (golden.rows_by_lp_l1.empty()) return deviation;
  const std::vector<int> lp_l1 = sequencies_in_order(order, Basis::lp_l1);
  compare("rows_by_lp_l1", rows_of(lp_l1, order), golden.rows_by_lp_l1);
  compare("sequencies_by_lp_l1", lp_l1, golden.sequencies_by_lp_l1);
  return deviation;
}

}  // namespace

double MetricsDeviation::largest() const {
  return std::max({relative_error, cosine, sqnr, max_abs_error});
}

double Deviation::largest() const {
  return std::max(result, metrics ? metrics->largest() : 0);
}

std::vector<Deviation> check_golden(const GoldenFile& file) {
  std::vector<Deviation> deviations;
  if (const auto* bases = std::get_if<std::vector<GoldenBasis>>(&file)) {
    for (const GoldenBasis& basis : *bases) deviations.push_back(check_basis(basis));
    return deviations;
  }
  const auto& golden = std::get<GoldenBackward>(file);
  if (golden.lqs) deviations.push_back(check_lqs(golden));
  for (const GoldenCase& one : golden.cases) deviations.push_back(check_case(golden, one));
  return deviations;
}

}  // namespace hot::kernels
