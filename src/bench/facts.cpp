#include "bench/facts.hpp"

#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cpu_info.hpp"
#include "kernels/backward.hpp"
#include "kernels/ops.hpp"

namespace hot::bench {
namespace {

struct Seconds {
  double others = 0, total = 0;
};

/// Processor time of all programs but this one, and of all cores with their idling, since boot.
Seconds processor_time() {
  std::ifstream stat("/proc/stat");
  std::string label;
  stat >> label;
  double busy = 0;
  double total = 0;
  for (int column = 0; column < 8; ++column) {  // user nice system idle iowait irq softirq steal
    double ticks = 0;
    stat >> ticks;
    total += ticks;
    if (column != 3 && column != 4) busy += ticks;
  }
  rusage own{};
  getrusage(RUSAGE_SELF, &own);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  const auto tick = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {busy / tick - seconds(own.ru_utime) - seconds(own.ru_stime), total / tick};
}

}  // namespace

OtherLoad::OtherLoad() {
  const auto now = processor_time();
  others_ = now.others;
  total_ = now.total;
}

double OtherLoad::share() const {
  const auto now = processor_time();
  const double total = now.total - total_;
  return total > 0 ? std::max(0.0, now.others - others_) / total : 0;
}

std::string bf16_support(std::string_view cpuinfo) {
  const std::string torch = "torch's own products (oneDNN); this CPU has ";
  if (cpuinfo.find(" amx_bf16") != std::string_view::npos) return torch + "AMX BF16";
  if (cpuinfo.find(" avx512_bf16") != std::string_view::npos) return torch + "AVX-512 BF16";
  return torch + "no BF16 instructions, so it is emulated";
}

nlohmann::json facts() {
  const auto cpu = cpu_info();
  std::ostringstream cpuinfo;
  cpuinfo << std::ifstream("/proc/cpuinfo").rdbuf();
  return {{"cpu", cpu.brand},
          {"cores", cpu.cores},
          {"features", cpu.features},
          {"threads", at::get_num_threads()},
          {"torch", TORCH_VERSION},
          {"kernels", kernels::cpu_ops().name},
          {"integer_gemm", kernels::integer_gemm_route()},
          {"bf16", bf16_support(cpuinfo.str())},
          {"origin", "measured"}};
}

}  // namespace hot::bench
