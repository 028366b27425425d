#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backward/operands.hpp"

namespace hot::backward {

/// Where a sliding window reads one image: for each position of the window, runs of places of the
/// kernel (last dimension fastest) whose pixels follow each other as well. What no run covers
/// reads padding.
class WindowRuns {
 public:
  struct Run {
    std::int64_t place, pixel, count;
  };

  /// `image` and `positions` are the spatial sizes of input and output.
  WindowRuns(const Window& window, at::IntArrayRef image, at::IntArrayRef positions);

  [[nodiscard]] std::int64_t places() const { return places_; }
  [[nodiscard]] std::int64_t pixels() const { return pixels_; }
  [[nodiscard]] std::int64_t positions() const {
    return static_cast<std::int64_t>(first_.size()) - 1;
  }
  [[nodiscard]] std::span<const Run> at(std::int64_t position) const;

  /// The pixel that a place of the kernel reads at each position, -1 in the padding.
  [[nodiscard]] const std::int32_t* pixels_of(std::int64_t place) const {
    return pixels_of_.data() + place * positions();
  }

  /// True if every pixel is read at some position.
  [[nodiscard]] bool covers() const { return covers_; }

  /// The pixel that each place reads at each position, int64 [positions, places] on `device`;
  /// pixels() where it reads padding. Copied there once.
  [[nodiscard]] at::Tensor table(at::Device device) const;

 private:
  /// Runs along the last dimension, for one row of the kernel's places and of the image's pixels.
  void add_row(const Window& window, std::int64_t start, std::int64_t first_place,
               std::int64_t first_pixel, std::int64_t width);
  void add(const Run& run);

  std::vector<Run> runs_;
  std::vector<std::int32_t> pixels_of_;
  std::vector<std::size_t> first_;  ///< of each position's runs, and the end
  std::int64_t places_ = 1;
  std::int64_t pixels_ = 1;
  bool covers_ = false;
  mutable std::mutex mutex_;
  mutable at::Tensor table_;
};

}  // namespace hot::backward
