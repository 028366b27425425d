// Torch's own snapshot of its CUDA allocator, as far as a machine without a GPU goes: LibTorch has
// the functions, with these parameters, and the pickle is one.
#include "kernels/memory_snapshot.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/cuda/memory_snapshot.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/errors.hpp"
#include "kernels/devices.hpp"

namespace hot {
namespace {

// What kernels/cuda/memory_snapshot.cpp calls by name; another LibTorch's would not compile here.
using Strings = std::vector<std::string>;
using RecordHistory = void (*)(std::optional<std::string>, std::optional<std::string>,
                               const std::string&, std::size_t, bool, bool, bool, const Strings&,
                               bool, bool);
static_assert(
    std::is_same_v<decltype(static_cast<RecordHistory>(&torch::cuda::_record_memory_history)),
                   RecordHistory>);
static_assert(std::is_same_v<decltype(&torch::cuda::_memory_snapshot_pickled), std::string (*)()>);

TEST(MemorySnapshot, IsTorchsPickleOfSegmentsAndEvents) {
  const std::string pickle = kernels::memory_snapshot();
  const auto value = torch::jit::unpickle(pickle.data(), pickle.size());
  ASSERT_TRUE(value.isGenericDict());
  EXPECT_TRUE(value.toGenericDict().contains("segments"));
  EXPECT_TRUE(value.toGenericDict().contains("device_traces"));
}

TEST(MemorySnapshot, HistoryWithoutAGpuIsRefusedInOneLine) {
  if (!kernels::cuda_devices().devices.empty()) GTEST_SKIP() << "there is a GPU";
  try {
    const kernels::MemoryHistory history;
    FAIL() << "recorded without a GPU";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("LibTorch gives no memory snapshot: "));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace hot
