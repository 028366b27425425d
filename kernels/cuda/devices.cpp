#include "kernels/devices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace hot::kernels {
namespace {

/// CUDA codes a version as 1000·major + 10·minor.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// 0 where CUDA doesn't say.
int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, device) == cudaSuccess ? value : 0;
}

std::string bus_of(int device) {
  char text[32] = "";
  return cudaDeviceGetPCIBusId(text, sizeof(text), device) == cudaSuccess ? text : "";
}

std::string why(cudaError_t error, const std::string& driver) {
  if (driver.empty()) return "no NVIDIA driver is installed";
  if (error == cudaErrorInsufficientDriver)
    return fmt::format("the NVIDIA driver supports CUDA {}, this program needs {}", driver,
                       cuda_toolkit());
  if (error == cudaErrorNoDevice || error == cudaSuccess)
    return "the NVIDIA driver sees no CUDA device";
  return fmt::format("CUDA reports: {}", cudaGetErrorString(error));
}

}  // namespace

CudaDevices cuda_devices() {
  CudaDevices found;
  int driver = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0)
    found.driver = version_text(driver);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    found.reason = why(error, found.driver);
    return found;
  }
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (const cudaError_t failed = cudaGetDeviceProperties(&properties, index);
        failed != cudaSuccess) {
      found.reason = why(failed, found.driver);
      continue;
    }
    found.devices.push_back({index, properties.name, properties.major, properties.minor,
                             static_cast<std::int64_t>(properties.totalGlobalMem),
                             attribute(cudaDevAttrClockRate, index) / 1000,
                             attribute(cudaDevAttrMemoryClockRate, index) / 1000,
                             properties.multiProcessorCount, properties.l2CacheSize,
                             bus_of(index)});
  }
  return found;
}

std::string cuda_toolkit() {
  return version_text(CUDART_VERSION);
}

}  // namespace hot::kernels
