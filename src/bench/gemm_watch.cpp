#include "bench/gemm_watch.hpp"

#include <ATen/Parallel.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bench/stopwatch.hpp"

namespace hot::bench {
namespace {

/// Nanoseconds of products that all threads work on, and of those that one thread does by itself.
struct Sums {
  std::atomic<std::int64_t> together = 0, apart = 0, count = 0;
};
Sums sums;  // callbacks carry no state of their own

struct Running : at::ObserverContext {
  Stopwatch watch;
};

std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  if (name != "hot::integer_product" && name != "aten::_int_mm" && name != "aten::mm")
    return nullptr;
  return std::make_unique<Running>();
}

void on_end(const at::RecordFunction& /*function*/, at::ObserverContext* context) {
  if (context == nullptr) return;
  const double seconds = static_cast<Running*>(context)->watch.seconds();
  (at::in_parallel_region() ? sums.apart : sums.together) +=
      static_cast<std::int64_t>(seconds * 1e9);
  ++sums.count;
}

}  // namespace

GemmWatch::GemmWatch() {
  sums.together = sums.apart = sums.count = 0;
  handle_ = at::addGlobalCallback(at::RecordFunctionCallback(on_start, on_end)
                                      .needsInputs(false)
                                      .scopes({at::RecordScope::FUNCTION}));
}

GemmWatch::~GemmWatch() {
  at::removeCallback(handle_);
}

double GemmWatch::seconds() const {
  return 1e-9 * (static_cast<double>(sums.together) +
                 static_cast<double>(sums.apart) / at::get_num_threads());
}

bool GemmWatch::saw_any() const {
  return sums.count > 0;
}

}  // namespace hot::bench
