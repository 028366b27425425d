#include "analyzers/profile/probes.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

#include "device/clock.hpp"

namespace hot::profile {
namespace {

constexpr std::int64_t kSide = 1536;
constexpr std::int64_t kCopied = 128 << 20;
constexpr std::int64_t kGpuSide = 8192;
constexpr std::int64_t kGpuCopied = 1 << 30;
constexpr std::int64_t kLeastCopied = 8 << 20;
constexpr int kRuns = 6;

template <class Body>
double best_seconds(device::Clock& clock, const Body& body) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    device::Span span(clock);
    body();
    span.end();
    best = std::min(best, span.seconds());
  }
  return best;
}

/// Bytes read and written a second by a copy, of less where the process may not take that much.
double copy_rate(device::Clock& clock, std::int64_t most, const at::TensorOptions& options) {
  for (std::int64_t bytes = most;; bytes /= 2) {
    try {
      const at::Tensor from = at::ones({bytes}, options);
      at::Tensor to = at::zeros({bytes}, options);
      return 2.0 * static_cast<double>(bytes) / best_seconds(clock, [&] { to.copy_(from); });
    } catch (const c10::Error&) {
      if (bytes <= kLeastCopied) throw;
    }
  }
}

}  // namespace

Ceilings measure_ceilings(c10::Device device) {
  const at::NoGradGuard no_grad;
  device::Clock& clock = device::clock_of(device);
  // A GPU needs more work to be busy, and doesn't keep a copy in its caches.
  const std::int64_t side = device.is_cpu() ? kSide : kGpuSide;
  const std::int64_t copied = device.is_cpu() ? kCopied : kGpuCopied;
  const auto floats = at::device(device).dtype(at::kFloat);
  const auto bytes = at::device(device).dtype(at::kByte);
  Ceilings ceilings;
  {
    const at::Tensor a = at::rand({side, side}, floats);
    const at::Tensor b = at::rand({side, side}, floats);
    at::Tensor c = at::empty({side, side}, floats);
    const double work = 2.0 * static_cast<double>(side * side * side);
    ceilings.float32_flops = work / best_seconds(clock, [&] { at::mm_out(c, a, b); });
  }
  ceilings.bytes_per_second = copy_rate(clock, copied, bytes);
  return ceilings;
}

}  // namespace hot::profile
