#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backward/operands.hpp"

namespace hot::measure {

/// A layer to make operands for; a linear one unless the window says otherwise.
struct Synthetic {
  std::string name;
  std::vector<std::int64_t> x, weight;
  backward::Window window{};
  bool overlapping = false;  ///< an entry of grad_input sums over several places of the kernel
};

[[nodiscard]] backward::Window window(std::vector<std::int64_t> kernel, std::int64_t stride,
                                      std::int64_t padding, std::int64_t dilation,
                                      bool transposed = false);

/// Normal x, weight and gy (whose rows differ in size), both gradients needed.
[[nodiscard]] backward::Operands synthetic(const Synthetic& layer, std::int64_t seed);

/// A linear layer first, an overlapping convolution second, then further windows.
[[nodiscard]] const std::vector<Synthetic>& synthetic_layers();

}  // namespace hot::measure
