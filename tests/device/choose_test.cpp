// Which device a name stands for where there is no GPU. (With one, other names hold.)
#include "device/choose.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "kernels/devices.hpp"

namespace hot::device {
namespace {

TEST(ChooseDevice, WithoutAGpuAutoIsTheCpuAndCudaAnErrorThatSaysWhy) {
  const kernels::CudaDevices cuda = kernels::cuda_devices();
  EXPECT_TRUE(choose("cpu").is_cpu());
  if (!cuda.devices.empty()) GTEST_SKIP() << "there is a GPU";
  EXPECT_TRUE(choose("auto").is_cpu());
  for (const char* name : {"cuda", "cuda:1"}) {
    try {
      (void)choose(name);
      FAIL() << name;
    } catch (const EnvironmentError& error) {
      EXPECT_EQ(error.what(),
                std::string("--device ") + name + ": " + cuda.reason + "; use --device cpu");
    }
  }
}

}  // namespace
}  // namespace hot::device
