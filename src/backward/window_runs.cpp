#include "backward/window_runs.hpp"

#include <algorithm>

namespace hot::backward {
namespace {

std::int64_t product(at::IntArrayRef sizes) {
  std::int64_t result = 1;
  for (const auto size : sizes) result *= size;
  return result;
}

/// The next index of a grid, last dimension fastest; false after the last one.
bool next_index(std::vector<std::int64_t>& index, at::IntArrayRef sizes) {
  for (std::size_t d = index.size(); d-- > 0;) {
    if (++index[d] < sizes[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// The pixel that a place of the kernel reads at a position; -1 in the padding.
std::int64_t pixel_of(const Window& w, at::IntArrayRef image,
                      const std::vector<std::int64_t>& position,
                      const std::vector<std::int64_t>& place) {
  std::int64_t pixel = 0;
  for (std::size_t d = 0; d < place.size(); ++d) {
    const std::int64_t at = position[d] * w.stride[d] - w.padding[d] + place[d] * w.dilation[d];
    if (at < 0 || at >= image[d]) return -1;
    pixel = pixel * image[d] + at;
  }
  return pixel;
}

}  // namespace

WindowRuns::WindowRuns(const Window& window, at::IntArrayRef image, at::IntArrayRef positions)
    : places_(product(window.kernel)), pixels_(product(image)) {
  std::vector<bool> read(static_cast<std::size_t>(pixels_));
  first_.push_back(0);
  if (product(positions) == 0) return;
  std::vector<std::int64_t> position(positions.size(), 0);
  do {
    std::vector<std::int64_t> index(window.kernel.size(), 0);
    std::int64_t place = 0;
    do {
      const std::int64_t pixel = pixel_of(window, image, position, index);
      if (pixel >= 0) {
        add(place, pixel);
        read[static_cast<std::size_t>(pixel)] = true;
      }
      ++place;
    } while (next_index(index, window.kernel));
    first_.push_back(runs_.size());
  } while (next_index(position, positions));
  covers_ = std::all_of(read.begin(), read.end(), [](bool is_read) { return is_read; });
}

void WindowRuns::add(std::int64_t place, std::int64_t pixel) {
  if (runs_.size() > first_.back()) {
    Run& last = runs_.back();
    if (last.place + last.count == place && last.pixel + last.count == pixel) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({place, pixel, 1});
}

std::span<const WindowRuns::Run> WindowRuns::at(std::int64_t position) const {
  const auto i = static_cast<std::size_t>(position);
  return std::span(runs_).subspan(first_[i], first_[i + 1] - first_[i]);
}

}  // namespace hot::backward
