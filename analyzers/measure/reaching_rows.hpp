#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backward/operands.hpp"

namespace hot::measure {

/// True where the windows of an ordinary convolution overlap or may: then an entry of grad_input is
/// a sum over several places of the kernel.
[[nodiscard]] bool windows_overlap(const backward::Window& window);

/// For each place of the kernel (last dimension fastest) the row of gy_matrix() that reaches input
/// pixel `pixel` (counted over N·spatial, last dimension fastest) through that place, or -1.
/// `image` and `positions` are the spatial sizes of the input and the output.
[[nodiscard]] std::vector<std::int64_t> reaching_rows(const backward::Window& window,
                                                      std::span<const std::int64_t> image,
                                                      std::span<const std::int64_t> positions,
                                                      std::int64_t pixel);

}  // namespace hot::measure
