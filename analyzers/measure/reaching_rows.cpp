#include "analyzers/measure/reaching_rows.hpp"

namespace hot::measure {
namespace {

std::int64_t product(std::span<const std::int64_t> sizes) {
  std::int64_t result = 1;
  for (const auto size : sizes) result *= size;
  return result;
}

}  // namespace

bool windows_overlap(const backward::Window& window) {
  if (!window.convolution || window.transposed) return false;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    if (window.stride[d] <= window.dilation[d] * (window.kernel[d] - 1)) return true;
  }
  return false;
}

std::vector<std::int64_t> reaching_rows(const backward::Window& window,
                                        std::span<const std::int64_t> image,
                                        std::span<const std::int64_t> positions,
                                        std::int64_t pixel) {
  const std::size_t dims = image.size();
  std::vector<std::int64_t> at(dims);  // the pixel's coordinates
  for (std::size_t d = dims; d-- > 0;) {
    at[d] = pixel % image[d];
    pixel /= image[d];
  }
  const std::int64_t sample = pixel;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(product(window.kernel)));
  for (std::size_t place = 0; place < rows.size(); ++place) {
    auto rest = static_cast<std::int64_t>(place);
    std::int64_t row = 0;
    std::int64_t step = 1;
    for (std::size_t d = dims; d-- > 0;) {
      const std::int64_t offset =
          at[d] + window.padding[d] - window.dilation[d] * (rest % window.kernel[d]);
      rest /= window.kernel[d];
      const bool inside =
          offset >= 0 && offset % window.stride[d] == 0 && offset / window.stride[d] < positions[d];
      row = inside && row >= 0 ? row + step * (offset / window.stride[d]) : -1;
      step *= positions[d];
    }
    rows[place] = row < 0 ? -1 : sample * step + row;
  }
  return rows;
}

}  // namespace hot::measure
