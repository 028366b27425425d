#include "analyzers/measure/workers.hpp"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>

namespace hot::measure {

void run_tasks(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  const std::int64_t threads = std::min<std::int64_t>(at::get_num_threads(), count);
  std::atomic<std::int64_t> next{0};
  at::parallel_for(0, threads, 1, [&](std::int64_t begin, std::int64_t end) {
    const at::NoGradGuard no_grad;
    const at::DisableRecordFunctionGuard quiet;
    for (std::int64_t worker = begin; worker < end; ++worker) {
      for (std::int64_t i = next++; i < count; i = next++) task(i);
    }
  });
}

}  // namespace hot::measure
