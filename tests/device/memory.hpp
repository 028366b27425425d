#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/cuda/passes.hpp"

namespace hot::kernels {

/// Where the tests' kernels run and keep their memory: the simulator, or a GPU.
struct TestDevice {
  const DevicePasses& passes;
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* memory);
  void (*copy)(void* to, const void* from, std::size_t bytes);  ///< in any direction; waits
  std::vector<std::string> variants;  ///< each test runs under each of them
  void (*set_variant)(const std::string& variant);
};

/// The device that this test program was linked with.
[[nodiscard]] const TestDevice& test_device();

/// `count` values of type T in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count)
      : count_(count), memory_(test_device().allocate(count * sizeof(T))) {}
  explicit DeviceArray(std::span<const T> values) : DeviceArray(values.size()) {
    test_device().copy(memory_, values.data(), values.size_bytes());
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { test_device().release(memory_); }

  [[nodiscard]] T* data() { return static_cast<T*>(memory_); }
  [[nodiscard]] std::vector<T> host() const {
    std::vector<T> values(count_);
    test_device().copy(values.data(), memory_, count_ * sizeof(T));
    return values;
  }

 private:
  std::size_t count_;
  void* memory_;
};

}  // namespace hot::kernels
