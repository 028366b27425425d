#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hot {

/// Where a number comes from. Every number printed says which.
enum class Origin { measured, modelled, simulated };

[[nodiscard]] const char* to_string(Origin origin);

/// Which way a metric should go; `neither` for counts, for what is best at a value in
/// between, and for checks, whose size below their limit means nothing.
enum class Better { lower, higher, neither };

/// One row of the table of all metrics: printers need to know no metric by name.
struct MetricInfo {
  std::string_view name;  ///< snake_case, the JSON key
  std::string_view unit;  ///< "" (errors, cosines), "ratio" (times), "share" (of 1), "dB", "ms" …
  std::string_view description;  ///< one line, with the formula's place in methods.md
  Better better = Better::lower;
};

/// Every metric the project can report, in printing order.
[[nodiscard]] const std::vector<MetricInfo>& metric_infos();

/// The row called `name`. Throws std::logic_error when there is none (a bug, not bad input).
[[nodiscard]] const MetricInfo& metric_info(std::string_view name);

struct Metric {
  const MetricInfo* info = nullptr;
  double value = 0;
  Origin origin = Origin::measured;
  std::optional<double> ci95;  ///< half width of the 95 % interval, in the metric's unit
};

/// An ordered set of metrics, at most one of each name.
class Metrics {
 public:
  /// Adds or replaces. Throws std::logic_error for a name that metric_infos() lacks.
  void set(std::string_view name, double value, Origin origin,
           std::optional<double> ci95 = std::nullopt);
  [[nodiscard]] const Metric* find(std::string_view name) const;
  /// Value of a metric that must be there; throws std::logic_error otherwise.
  [[nodiscard]] double value(std::string_view name) const;
  [[nodiscard]] const std::vector<Metric>& all() const { return metrics_; }

 private:
  std::vector<Metric> metrics_;
};

}  // namespace hot
