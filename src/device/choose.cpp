#include "device/choose.hpp"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include "core/errors.hpp"
#include "kernels/devices.hpp"

namespace hot::device {
namespace {

/// LibTorch's CUDA side registers itself when it is loaded. Empty, or what the loader says.
std::string load_cuda_side() {
  static const std::string failure = [] {
    if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return std::string();
    return fmt::format("this LibTorch has no CUDA side ({})", dlerror());
  }();
  return failure;
}

int wanted_index(const std::string& name) {
  return name.size() > 5 ? std::stoi(name.substr(5)) : 0;
}

}  // namespace

c10::Device choose(const std::string& name) {
  if (name == "cpu") return c10::kCPU;
  const bool any = name == "auto";
  const kernels::CudaDevices cuda = kernels::cuda_devices();
  std::string reason = cuda.reason;
  const int index = any ? 0 : wanted_index(name);
  const auto count = static_cast<int>(cuda.devices.size());
  if (count > 0 && index >= count)
    reason = fmt::format("there {} {} CUDA device{}, counted from 0", count == 1 ? "is" : "are",
                         count, count == 1 ? "" : "s");
  else if (count > 0)
    reason = load_cuda_side();
  if (reason.empty()) return {c10::kCUDA, static_cast<c10::DeviceIndex>(index)};
  if (any) return c10::kCPU;
  throw EnvironmentError(fmt::format("--device {}: {}; use --device cpu", name, reason));
}

void synchronize(c10::Device device) {
  if (device.is_cpu()) return;
  c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

}  // namespace hot::device
