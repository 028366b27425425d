#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/report.hpp"

namespace hot::reports {

/// What became of a number from A to B. `unclear`: it differs by more than the tolerance, but no
/// more than its noise.
enum class Change { same, better, worse, unclear };

[[nodiscard]] const char* to_string(Change change);

struct CompareOptions {
  double tolerance = 0.01;  ///< a relative difference up to it is `same`
};

/// One metric in both reports.
struct Difference {
  Metric a;
  Metric b;
  Change change = Change::same;
  std::optional<double> ci95;  ///< half width of the interval of b - a; none where neither has one

  [[nodiscard]] const MetricInfo& info() const { return *a.info; }
  /// b / a - 1; 0 where both are 0, infinite where a alone is.
  [[nodiscard]] double relative() const;
};

/// The scheme of one gradient, where A and B don't agree.
struct PickChange {
  std::string layer;
  Path path = Path::grad_input;
  std::string a;  ///< scheme; empty where the plan hasn't the layer
  std::string b;
  std::optional<Difference> error;  ///< relative error of a's and of b's pick
};

/// A number of one layer: of a gradient whose scheme is the same in both, or of its verification.
struct LayerDifference {
  std::string layer;
  std::string path;    ///< "grad_input", "grad_weight" or "backward"
  std::string scheme;  ///< empty for "backward"
  Difference difference;
};

/// What changed from report A to report B.
struct Comparison {
  std::string name_a;
  std::string name_b;
  std::string verdict_a;  ///< "PASSED", "PLANNED, NOT VERIFIED" …
  std::string verdict_b;
  std::vector<std::string> notes;  ///< what else differs: machine, model, protocol
  std::vector<Difference> whole;   ///< of the whole model, in printing order
  std::vector<PickChange> picks;
  std::size_t gradients = 0;  ///< whose schemes both plans name
  std::vector<LayerDifference> layers;

  [[nodiscard]] std::size_t count(Change change) const;  ///< among `whole`
};

/// What is known of the noise between A and B besides the numbers' own intervals.
struct Noise {
  bool repeatable = true;  ///< both drew the same inputs, labels and roundings
  double drift = 0;        ///< relative change of a time that should be the same in both
  std::size_t family = 1;  ///< numbers that are looked at together
};

/// Two numbers of one metric. Their intervals and, for times, the drift add up in squares; those of
/// a family are widened, so that all hold at once at about 95 %. Without an interval, times are
/// noisy to an unknown degree (so a difference is `unclear`), and so is everything measured that
/// isn't repeatable; other numbers are taken as they are.
[[nodiscard]] Difference difference_of(const Metric& a, const Metric& b,
                                       const CompareOptions& options, const Noise& noise = {});

/// How much the times of the exact pass, which both timed, changed: the machine's doing.
[[nodiscard]] double drift_of(const Metrics& a, const Metrics& b);

/// Compares what both reports have; metrics that are better neither way are left out. Names are
/// those of the files.
[[nodiscard]] Comparison compare(const Report& a, const std::string& name_a, const Report& b,
                                 const std::string& name_b, const CompareOptions& options = {});

}  // namespace hot::reports
