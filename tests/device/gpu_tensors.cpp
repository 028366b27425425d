#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "device/choose.hpp"
#include "tests/device/tensor_device.hpp"

namespace hot::kernels {
namespace {

/// The first GPU, or why there is none. LibTorch's CUDA side is loaded before anything else of it.
std::pair<at::Device, std::string> gpu() {
  static const auto found = []() -> std::pair<at::Device, std::string> {
    try {
      return {device::choose("cuda"), ""};
    } catch (const EnvironmentError& error) {
      return {at::kCPU, error.what()};
    }
  }();
  return found;
}

/// Skips every test where there is no GPU: none passes without having run.
class NeedsGpu : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    if (gpu().first.is_cpu()) GTEST_SKIP() << gpu().second;
  }
};

const bool kListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new NeedsGpu);
  return true;
}();

}  // namespace

struct TensorDevice::State {};

TensorDevice::TensorDevice() = default;
TensorDevice::~TensorDevice() = default;

at::Tensor TensorDevice::there(const at::Tensor& tensor) const {
  return tensor.to(gpu().first);
}

}  // namespace hot::kernels
