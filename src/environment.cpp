#include "environment.hpp"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "cpu_info.hpp"
#include "gpu_facts.hpp"
#include "kernels/backward.hpp"
#include "kernels/device_backend.hpp"
#include "kernels/devices.hpp"
#include "kernels/ops.hpp"

namespace hot {

Environment describe_environment(const std::string& device) {
  Environment environment;
  environment.tool_version = HOT_VERSION;
  environment.device = device;
  environment.cpu = cpu_info().brand;
  environment.threads = at::get_num_threads();
  environment.torch = TORCH_VERSION;
  environment.cuda = kernels::cuda_toolkit();
  environment.kernels = kernels::cpu_ops().name;
  environment.integer_gemm = kernels::integer_gemm_route();
  if (device == "cpu") return environment;
  const at::Device gpu(device);
  const kernels::DeviceBackend& backend = *kernels::backend_of(gpu);
  environment.kernels = backend.passes().name;
  environment.integer_gemm = backend.products(gpu);
  const kernels::CudaDevices cuda = kernels::cuda_devices();
  environment.gpu =
      gpu_facts(cuda.devices.at(static_cast<std::size_t>(int{gpu.index()})), cuda.driver);
  return environment;
}

}  // namespace hot
