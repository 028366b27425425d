#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hot::kernels {

struct CudaDevice {
  int index = 0;
  std::string name;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::int64_t memory_bytes = 0;
  int clock_mhz = 0;         ///< highest of the SMs
  int memory_clock_mhz = 0;  ///< highest of the memory
  int processors = 0;        ///< SMs
  std::int64_t l2_bytes = 0;
  std::string bus;  ///< PCI address, e.g. "0000:1b:00.0"
};

/// The CUDA devices that this program can see, or why there are none.
struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string
      driver;  ///< CUDA version that the driver supports, e.g. "13.0"; empty without a driver
  std::string reason;  ///< why `devices` is empty, as a phrase; empty otherwise
};

[[nodiscard]] CudaDevices cuda_devices();

/// Version of the CUDA toolkit that the program was built with, e.g. "13.0", or "none".
[[nodiscard]] std::string cuda_toolkit();

}  // namespace hot::kernels
