#include "analyzers/trace/step_watcher.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace hot::trace {
namespace {

struct Range {
  bool finite = true;
  bool nonzero = false;
};

Range range_of(const at::Tensor& t) {
  if (!t.defined() || t.numel() == 0 || !t.is_floating_point() || t.layout() != at::kStrided)
    return {};
  const auto [low, high] = at::aminmax(t);
  const double a = low.item<double>();
  const double b = high.item<double>();
  return {std::isfinite(a) && std::isfinite(b), a != 0 || b != 0};
}

void add(PathWork& work, const GemmShape& shape) {
  work.flops += shape.flops();
  if (std::find(work.gemms.begin(), work.gemms.end(), shape) == work.gemms.end()) {
    work.gemms.push_back(shape);
  }
}

/// torch may compute xᵀ·gy and transpose; the table shows gyᵀ·x, O×L · L×I.
GemmShape output_first(const backward::Operands& o, GemmShape shape) {
  if (o.weight_transposed && o.weight.dim() == 2 && shape.m == o.weight.size(0) &&
      shape.n == o.weight.size(1)) {
    std::swap(shape.m, shape.n);
  }
  return shape;
}

}  // namespace

StepWatcher::SiteWork& StepWatcher::at(std::size_t site) {
  if (site >= work_.size()) work_.resize(site + 1);
  return work_[site];
}

void StepWatcher::on_forward(const backward::Call& call, const std::vector<GemmShape>& shapes) {
  auto& path = at(call.site).paths[static_cast<std::size_t>(Path::forward)];
  ++path.calls;
  for (const auto& shape : shapes) {
    add(path, shape);
    forward_flops_ += shape.flops();
  }
  if (bad_input_.empty() && !range_of(call.operands.x).finite) bad_input_ = call.operands.layer;
}

void StepWatcher::on_backward(const backward::Call& call) {
  const auto range = range_of(call.operands.gy);
  auto& site = at(call.site);
  site.gradient_seen = true;
  site.gradient_nonzero = site.gradient_nonzero || range.nonzero;
  if (bad_gradient_.empty() && !range.finite) bad_gradient_ = call.operands.layer;
}

void StepWatcher::on_gemm(const backward::Call* call, Path path, const GemmShape& shape) {
  backward_flops_ += shape.flops();
  if (call == nullptr) return;
  add(at(call->site).paths[static_cast<std::size_t>(path)],
      path == Path::grad_weight ? output_first(call->operands, shape) : shape);
}

void StepWatcher::on_backward_done(const backward::Call& call, const device::Span&) {
  if (!call.operands.gy.defined()) return;
  auto& paths = at(call.site).paths;
  if (call.operands.need_grad_input) ++paths[static_cast<std::size_t>(Path::grad_input)].calls;
  if (call.operands.need_grad_weight) ++paths[static_cast<std::size_t>(Path::grad_weight)].calls;
}

}  // namespace hot::trace
