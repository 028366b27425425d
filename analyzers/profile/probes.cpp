#include "analyzers/profile/probes.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace hot::profile {
namespace {

constexpr std::int64_t kSide = 1536;
constexpr std::int64_t kCopied = 128 << 20;
constexpr int kRuns = 6;

template <class Body>
double best_seconds(const Body& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count());
  }
  return best;
}

}  // namespace

Ceilings measure_ceilings() {
  const at::NoGradGuard no_grad;
  Ceilings ceilings;
  {
    const at::Tensor a = at::rand({kSide, kSide});
    const at::Tensor b = at::rand({kSide, kSide});
    at::Tensor c = at::empty({kSide, kSide});
    const double work = 2.0 * kSide * kSide * kSide;
    ceilings.float32_flops = work / best_seconds([&] { at::mm_out(c, a, b); });
  }
  const at::Tensor from = at::ones({kCopied}, at::kByte);
  at::Tensor to = at::zeros({kCopied}, at::kByte);
  ceilings.bytes_per_second = 2.0 * kCopied / best_seconds([&] { to.copy_(from); });
  return ceilings;
}

}  // namespace hot::profile
