#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "backward/operands.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

/// The levels of gy laid out as images with zeros around them, pixels as rows, so that the gradient
/// of an input pixel is a sum over fixed distances: with p the place of the pixel in the padded
/// image, Σ_j levels[p + distance(j)] · W_j over the kernel's places j. For stride 1.
class PaddedLevels {
 public:
  /// gy's levels int8 [N·positions × k] by rows, and its scales; `image` are the spatial sizes of
  /// x.
  PaddedLevels(const kernels::Operand& gy, const Window& window, at::IntArrayRef image);

  /// A row of consecutive pixels of the image.
  struct Line {
    std::int64_t place;  ///< of its first pixel in the padded image
    std::int64_t pixel;  ///< of its first pixel in the image
    std::int64_t count;
  };

  [[nodiscard]] const std::int8_t* sample(std::int64_t index) const {
    return data_.const_data_ptr<std::int8_t>() + index * pixels_ * pitch_;
  }
  /// The scales of that sample's pixels, 1 in the padding; where gy has a scale for each.
  [[nodiscard]] const float* scales(std::int64_t index) const {
    return scales_.const_data_ptr<float>() + index * pixels_;
  }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  /// Bytes from pixel to pixel: k rounded up to whole groups, with zeros behind.
  [[nodiscard]] std::int64_t pitch() const { return pitch_; }
  /// Places from the image's first pixel to its last, and one.
  [[nodiscard]] std::int64_t extent() const { return lines_.back().place + lines_.back().count; }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  /// In pixels, of each place of the kernel (last dimension fastest).
  [[nodiscard]] const std::vector<std::int64_t>& distances() const { return distances_; }

 private:
  void fill(const kernels::Operand& gy, const Window& window, at::IntArrayRef positions,
            at::IntArrayRef padded);

  at::Tensor data_, scales_;
  std::int64_t samples_ = 0, pixels_ = 1, pitch_ = 0;
  std::vector<Line> lines_;
  std::vector<std::int64_t> distances_;
};

}  // namespace hot::backward
