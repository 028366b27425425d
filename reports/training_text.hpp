#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/training.hpp"
#include "reports/verdict.hpp"

namespace hot::reports {

/// What a training comes to: whether accuracy (or else the loss) by the plan differs from exact
/// training beyond the noise between seeds.
[[nodiscard]] Verdict training_verdict(const Training& training);

/// "100 steps a run, 3 seeds; 6 minibatches in random order, 2 held out; AdamW, rate 0.0001 …"
[[nodiscard]] std::string training_setting(const Training& training);

/// A step of the curves: means over seeds; the cosine where it was measured.
struct CurvePoint {
  std::int64_t step = 0;
  double exact = 0;
  double plan = 0;
  std::optional<double> cosine;
};

/// The curves in at most `most` windows of equal width: each point is the mean loss of its window's
/// steps over all seeds, `step` its first.
[[nodiscard]] std::vector<CurvePoint> curve_points(const Training& training, std::int64_t most);

}  // namespace hot::reports
