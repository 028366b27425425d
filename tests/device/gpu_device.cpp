#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/device/memory.hpp"

namespace hot::kernels {
namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// Skips every test where there is no GPU: none passes without having run.
class NeedsGpu : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no GPU";
  }
};

const bool kListening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new NeedsGpu);
  return true;
}();

}  // namespace

const TestDevice& test_device() {
  static const TestDevice device{cuda_passes(),
                                 [](std::size_t bytes) {
                                   void* memory = nullptr;
                                   check(cudaMalloc(&memory, bytes + 1));
                                   return memory;
                                 },
                                 [](void* memory) { cudaFree(memory); },
                                 [](void* to, const void* from, std::size_t bytes) {
                                   check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
                                 },
                                 {"gpu"},
                                 [](const std::string&) {}};
  return device;
}

}  // namespace hot::kernels
