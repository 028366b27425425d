#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hot::cost {

/// Times that weren't measured, from those that were: log(ms / modelled ms) is taken for the sum of
/// what the gradient adds (its shape suits the kernels or not) and what the scheme adds (its
/// passes), fitted by least squares in turns.
class TimeModel {
 public:
  /// One measured time over the modelled one, both over 0.
  void add(const std::string& gradient, const std::string& scheme, double ratio);
  void fit();

  /// Factor on the modelled time; what isn't known of one side counts as the mean.
  [[nodiscard]] double factor(const std::string& gradient, const std::string& scheme) const;

  /// Median relative deviation of the measured times from what the model says of them without
  /// them; nullopt below four times.
  [[nodiscard]] std::optional<double> error() const;

 private:
  struct Point {
    std::string gradient, scheme;
    double log_ratio = 0;
  };
  std::vector<Point> points_;
  double mean_ = 0;
  std::map<std::string, double> by_gradient_, by_scheme_;
};

}  // namespace hot::cost
