#pragma once

#include <string>
#include <vector>

#include "kernels/check/golden_file.hpp"

namespace hot::kernels {

/// How far float32 arithmetic may be from the golden float64 numbers, relative to the largest
/// magnitude.
constexpr double kGoldenTolerance = 2e-6;

/// How far the four measures of one result are from the file's.
struct MetricsDeviation {
  double relative_error = 0;
  double cosine = 0;
  double sqnr = 0;  ///< of the ratio 10^(-dB/20), so that "no error at all" (null) has a value
  double max_abs_error = 0;  ///< relative to the largest magnitude of the exact gradient

  [[nodiscard]] double largest() const;
};

/// One line of the check: how far the project's numbers are from the file's.
struct Deviation {
  std::string name;   ///< "grad_input had16+int4/row/nearest"
  double result = 0;  ///< largest |difference| / largest magnitude of the golden result
  std::optional<MetricsDeviation> metrics;
  bool same = true;  ///< false where something that must be equal isn't: a choice, an order of rows
  std::string comment;  ///< what isn't equal, or what was chosen

  [[nodiscard]] double largest() const;
  [[nodiscard]] bool within() const { return same && largest() <= kGoldenTolerance; }
};

/// Runs every case of the file through grad_input, grad_weight, the LQS arithmetic and the basis
/// orders.
[[nodiscard]] std::vector<Deviation> check_golden(const GoldenFile& file);

}  // namespace hot::kernels
