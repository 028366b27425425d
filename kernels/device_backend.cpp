#include "kernels/device_backend.hpp"

#include <fmt/format.h>

#include <atomic>
#include <stdexcept>

#include "core/errors.hpp"

namespace hot::kernels {
namespace {

std::atomic<const DeviceBackend*> stand_in{nullptr};

}  // namespace

bool DeviceBackend::multiplies_fp8(at::Device /*device*/, Format /*a*/, Format /*b*/) const {
  return false;
}

void DeviceBackend::multiply_fp8(at::Device /*device*/, void* /*stream*/, const Fp8Factor& /*a*/,
                                 const Fp8Factor& /*b*/, float /*factor*/, float* /*out*/,
                                 void* /*workspace*/) const {
  throw std::logic_error("this device multiplies no FP8 numbers");
}

const DeviceBackend* backend_of(at::Device device) {
  if (device.is_cpu()) return stand_in.load(std::memory_order_relaxed);
  const DeviceBackend* backend = device.is_cuda() ? cuda_backend() : nullptr;
  if (backend == nullptr)
    throw EnvironmentError(fmt::format("this program has no kernels for device {}", device.str()));
  return backend;
}

StandIn::StandIn(const DeviceBackend& backend) {
  stand_in = &backend;
}
StandIn::~StandIn() {
  stand_in = nullptr;
}

}  // namespace hot::kernels
