#include "analyzers/verify/gradients.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace hot::verify {
namespace {

/// Σ(ê−g)², Σg², Σê² and Σgê.
struct Sums {
  double error = 0, squared = 0, squared_estimate = 0, inner = 0;
  void add(const Sums& other) {
    error += other.error;
    squared += other.squared;
    squared_estimate += other.squared_estimate;
    inner += other.inner;
  }
};

/// One pass over both; the sums' order doesn't depend on the number of threads.
Sums sums_of(const at::Tensor& exact, const at::Tensor& estimate) {
  constexpr std::int64_t kPart = 1 << 16;
  const std::int64_t count = exact.numel();
  const at::Tensor a = exact.to(at::kCPU, at::kFloat).contiguous();
  const at::Tensor b = estimate.to(at::kCPU, at::kFloat).contiguous();
  const float* g = a.const_data_ptr<float>();
  const float* e = b.const_data_ptr<float>();
  std::vector<Sums> parts(static_cast<std::size_t>((count + kPart - 1) / kPart));
  at::parallel_for(0, static_cast<std::int64_t>(parts.size()), 1, [&](auto begin, auto end) {
    for (std::int64_t part = begin; part < end; ++part) {
      Sums sums;
      const std::int64_t last = std::min(count, (part + 1) * kPart);
      for (std::int64_t i = part * kPart; i < last; ++i) {
        const double x = g[i];
        const double y = e[i];
        sums.error += (y - x) * (y - x);
        sums.squared += x * x;
        sums.squared_estimate += y * y;
        sums.inner += x * y;
      }
      parts[static_cast<std::size_t>(part)] = sums;
    }
  });
  Sums result;
  for (const Sums& part : parts) result.add(part);
  return result;
}

at::Tensor dense(const at::Tensor& t) {
  return t.layout() == at::kStrided ? t : t.to_dense();
}

}  // namespace

GradientComparison compare(const std::vector<at::Tensor>& exact,
                           const std::vector<at::Tensor>& estimate) {
  Sums sums;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!exact[i].defined() && !estimate[i].defined()) continue;
    const auto g = exact[i].defined() ? dense(exact[i]) : at::zeros_like(dense(estimate[i]));
    const auto e = estimate[i].defined() ? dense(estimate[i]) : at::zeros_like(g);
    sums.add(sums_of(g, e));
  }
  GradientComparison result;
  result.finite = std::isfinite(sums.error) && std::isfinite(sums.squared_estimate);
  if (sums.squared > 0) result.relative_error = std::sqrt(sums.error / sums.squared);
  if (sums.squared > 0 && sums.squared_estimate > 0)
    result.cosine = sums.inner / std::sqrt(sums.squared * sums.squared_estimate);
  return result;
}

}  // namespace hot::verify
