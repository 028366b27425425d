#pragma once

#include <atomic>
#include <cstdint>

#include "kernels/device_backend.hpp"
#include "tests/device/fp8_number.hpp"

namespace hot::kernels {

/// The simulator as a backend of tensors, products by plain sums. CPU tensors made while one is
/// alive lie in simulated device memory, where every access of a kernel is checked.
class SimBackend : public DeviceBackend {
 public:
  SimBackend();
  ~SimBackend() override;

  [[nodiscard]] const DevicePasses& passes() const override { return sim_passes(); }
  [[nodiscard]] void* enter(at::Device) const override { return nullptr; }
  [[nodiscard]] std::size_t workspace_bytes(at::Device, const LevelLayout& a,
                                            const LevelLayout& b) const override;
  /// Throws c10::OutOfMemoryError for a result of more rows than `most_rows`.
  void multiply(at::Device, void* stream, const std::int8_t* a, const LevelLayout& a_layout,
                const std::int8_t* b, const LevelLayout& b_layout, std::int32_t* out,
                void* workspace) const override;
  /// Where `has_fp8`: plain sums in float32.
  [[nodiscard]] bool multiplies_fp8(at::Device, Format a, Format b) const override {
    return has_fp8 && fp8_pair(a, b);
  }
  void multiply_fp8(at::Device, void* stream, const Fp8Factor& a, const Fp8Factor& b, float factor,
                    float* out, void* workspace) const override;
  [[nodiscard]] std::string products(at::Device) const override { return "plain sums"; }

  std::int64_t most_rows = INT64_MAX;
  bool has_fp8 = false;
  mutable std::atomic<int> refused{0};  ///< for want of memory
  mutable std::atomic<int> products_run{0};
  mutable std::atomic<int> fp8_products_run{0};

 private:
  StandIn stand_in_{*this};
};

}  // namespace hot::kernels
