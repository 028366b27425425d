#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/scheme.hpp"

namespace hot::kernels {

/// What a case says about its result against the exact gradient (methods.md, section 4).
struct GoldenMetrics {
  double relative_error = 0;
  double cosine = 0;
  std::optional<double> sqnr_db;  ///< nullopt: no error at all
  double max_abs_error = 0;
};

struct GoldenCase {
  Path path = Path::grad_input;
  Scheme scheme;
  at::Tensor result;  ///< float64
  GoldenMetrics metrics;
};

struct GoldenLqs {
  double error_tensor = 0;
  double error_row = 0;
  Granularity choice = Granularity::tensor;
};

/// A file backward_LxOxI.json: one layer's operands and what every scheme makes of its two
/// gradients.
struct GoldenBackward {
  at::Tensor gy, w, x;  ///< float32 [L×O], [O×I], [L×I]
  at::Tensor gx, gw;    ///< float64, exact
  std::optional<GoldenLqs> lqs;
  std::vector<GoldenCase> cases;
};

/// The orders of one block size in basis.json; the lists of lp_l1 are empty where the order is no
/// square.
struct GoldenBasis {
  int order = 0;
  std::vector<int> sequency_of_row, rows_by_sequency, rows_by_lp_l1, sequencies_by_lp_l1;
};

using GoldenFile = std::variant<GoldenBackward, std::vector<GoldenBasis>>;

/// Reads either kind of golden file. Throws ModelError, one line with the file and the place, when
/// it is missing or isn't of that format.
[[nodiscard]] GoldenFile read_golden(const std::string& path);

}  // namespace hot::kernels
