#include "environment.hpp"

#include <ATen/Parallel.h>
#include <torch/version.h>

#include "cpu_info.hpp"
#include "kernels/backward.hpp"
#include "kernels/devices.hpp"
#include "kernels/ops.hpp"

namespace hot {

Environment describe_environment() {
  Environment environment;
  environment.tool_version = HOT_VERSION;
  environment.device = "cpu";
  environment.cpu = cpu_info().brand;
  environment.threads = at::get_num_threads();
  environment.torch = TORCH_VERSION;
  environment.cuda = kernels::cuda_toolkit();
  environment.kernels = kernels::cpu_ops().name;
  environment.integer_gemm = kernels::integer_gemm_route();
  return environment;
}

}  // namespace hot
