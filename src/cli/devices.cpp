#include "kernels/devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cpu_info.hpp"
#include "environment.hpp"
#include "kernels/device_truth.hpp"

namespace hot::cli {
namespace {

std::string cpu_text() {
  const CpuInfo cpu = cpu_info();
  const Environment environment = describe_environment();
  return fmt::format(
      "CPU           {}\n"
      "  cores       {} usable, {} LibTorch threads\n"
      "  features    {}\n"
      "  kernels     {}\n"
      "  int8 GEMM   {}\n"
      "LibTorch      {}\n",
      cpu.brand, cpu.cores, environment.threads,
      cpu.features.empty() ? "none of AVX2, AVX-512, VNNI, AMX"
                           : fmt::format("{}", fmt::join(cpu.features, ", ")),
      environment.kernels, environment.integer_gemm, environment.torch);
}

/// One GPU, and what its tensor cores do with each format.
std::string device_text(const kernels::CudaDevice& device) {
  std::string text =
      fmt::format("  cuda:{:<7}{}, sm_{}{}, {} SMs, {:.1f} GiB, up to {} MHz, memory {} MHz\n",
                  device.index, device.name, device.major, device.minor, device.processors,
                  static_cast<double>(device.memory_bytes) / (1 << 30), device.clock_mhz,
                  device.memory_clock_mhz);
  for (const kernels::FormatSupport& f : kernels::format_support(device.major, device.minor))
    text += fmt::format("    {:<10}{}{}\n", f.format, kernels::to_string(f.support),
                        f.support == kernels::Support::absent ? "" : fmt::format(": {}", f.how));
  return text;
}

std::string cuda_text() {
  const kernels::CudaDevices cuda = kernels::cuda_devices();
  std::string text =
      fmt::format("CUDA          built with {}, driver {}\n", kernels::cuda_toolkit(),
                  cuda.driver.empty() ? "none" : cuda.driver);
  if (cuda.devices.empty()) return text + fmt::format("  devices     none: {}\n", cuda.reason);
  for (const kernels::CudaDevice& device : cuda.devices) text += device_text(device);
  return text;
}

}  // namespace

void list_devices() {
  write_all(STDOUT_FILENO, cpu_text() + cuda_text(), "standard output");
}

void check_device(const std::string& device) {
  if (device.rfind("cuda", 0) != 0) return;
  const kernels::CudaDevices cuda = kernels::cuda_devices();
  if (cuda.devices.empty())
    throw EnvironmentError(fmt::format("--device {}: {}; use --device cpu", device, cuda.reason));
}

void check_memory_snapshot(const std::string& device) {
  const std::string what = "--memory-snapshot is of a GPU's memory";
  if (device == "cpu")
    throw UsageError(
        fmt::format("{}; leave out --device cpu, or take --trace for the CPU's", what));
  const kernels::CudaDevices cuda = kernels::cuda_devices();
  if (cuda.devices.empty())
    throw EnvironmentError(fmt::format("{}: {}; --trace has the CPU's", what, cuda.reason));
}

}  // namespace hot::cli
