#include "analyzers/verify/gradients.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace hot::verify {
namespace {

double sum_of_products(const at::Tensor& a, const at::Tensor& b) {
  return a.mul(b).sum(at::kDouble).item<double>();
}

at::Tensor dense(const at::Tensor& t) {
  return t.layout() == at::kStrided ? t : t.to_dense();
}

}  // namespace

GradientComparison compare(const std::vector<at::Tensor>& exact,
                           const std::vector<at::Tensor>& estimate) {
  double error = 0;
  double squared = 0;
  double squared_estimate = 0;
  double inner = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!exact[i].defined() && !estimate[i].defined()) continue;
    const auto g = exact[i].defined() ? dense(exact[i]) : at::zeros_like(dense(estimate[i]));
    const auto e = estimate[i].defined() ? dense(estimate[i]) : at::zeros_like(g);
    const auto difference = e - g;
    error += sum_of_products(difference, difference);
    squared += sum_of_products(g, g);
    squared_estimate += sum_of_products(e, e);
    inner += sum_of_products(g, e);
  }
  GradientComparison result;
  result.finite = std::isfinite(error) && std::isfinite(squared_estimate);
  if (squared > 0) result.relative_error = std::sqrt(error / squared);
  if (squared > 0 && squared_estimate > 0)
    result.cosine = inner / std::sqrt(squared * squared_estimate);
  return result;
}

}  // namespace hot::verify
