#include "backward/padded_levels.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "backward/next_index.hpp"
#include "kernels/levels.hpp"

namespace hot::backward {
namespace {

/// How far the kernel reaches along dimension d, in pixels.
std::int64_t reach(const Window& w, std::size_t d) {
  return w.dilation[d] * (w.kernel[d] - 1);
}

std::int64_t linear(const std::vector<std::int64_t>& index, at::IntArrayRef sizes) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at = at * sizes[d] + index[d];
  return at;
}

}  // namespace

PaddedLevels::PaddedLevels(const kernels::Operand& gy, const Window& window, at::IntArrayRef image)
    : pitch_(kernels::rounded_up(gy.values.size(1), kernels::kPackedRows)) {
  const at::Tensor& levels = gy.values;
  const std::size_t dims = image.size();
  const auto positions = window.positions(image);
  std::vector<std::int64_t> padded;
  for (std::size_t d = 0; d < dims; ++d) padded.push_back(image[d] + reach(window, d));
  pixels_ = c10::multiply_integers(padded);
  const std::int64_t of_sample = c10::multiply_integers(positions);
  samples_ = of_sample == 0 ? 0 : levels.size(0) / of_sample;

  std::vector<std::int64_t> index(dims, 0);
  std::int64_t pixel = 0;
  do {  // the lines: all dimensions but the last
    index.back() = 0;
    lines_.push_back({linear(index, padded), pixel, image.back()});
    pixel += image.back();
    index.back() = image.back() - 1;
  } while (next_index(index, image));
  index.assign(dims, 0);
  do {
    std::vector<std::int64_t> shift(dims);
    for (std::size_t d = 0; d < dims; ++d)
      shift[d] = window.dilation[d] * (window.kernel[d] - 1 - index[d]);
    distances_.push_back(linear(shift, padded));
  } while (next_index(index, window.kernel));

  const bool as_it_is = padded == positions && pitch_ == levels.size(1) && levels.is_contiguous();
  if (as_it_is) {
    data_ = levels;
    scales_ = gy.scales;
  } else {
    fill(gy, window, positions, padded);
  }
}

void PaddedLevels::fill(const kernels::Operand& gy, const Window& window, at::IntArrayRef positions,
                        at::IntArrayRef padded) {
  const at::Tensor levels = gy.values.contiguous();
  const bool by_pixel = gy.granularity == Granularity::row;
  data_ = at::zeros({samples_ * pixels_, pitch_}, at::kChar);
  if (by_pixel) scales_ = at::ones({samples_ * pixels_}, at::kFloat);
  const std::size_t last = positions.size() - 1;
  const std::int64_t k = levels.size(1);
  const auto before = [&](std::size_t d) { return reach(window, d) - window.padding[d]; };
  const std::int64_t skipped = std::max<std::int64_t>(0, -before(last));
  const std::int64_t count =
      std::min(positions[last], padded[last] - before(last)) - skipped;  // of each line of gy
  if (count <= 0) return;
  const std::int64_t of_sample = c10::multiply_integers(positions);
  const std::int8_t* from = levels.const_data_ptr<std::int8_t>();
  const float* scales = by_pixel ? gy.scales.const_data_ptr<float>() : nullptr;
  auto* to = data_.mutable_data_ptr<std::int8_t>();
  float* to_scales = by_pixel ? scales_.mutable_data_ptr<float>() : nullptr;
  const auto line = [&](std::int64_t row, std::int64_t place) {
    if (k == pitch_)
      std::memcpy(to + place * k, from + row * k, static_cast<std::size_t>(count * k));
    else
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + (place + i) * pitch_, from + (row + i) * k, static_cast<std::size_t>(k));
    if (by_pixel) std::copy_n(scales + row, count, to_scales + place);
  };
  at::parallel_for(0, samples_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      std::vector<std::int64_t> index(positions.size(), 0);
      std::int64_t row = n * of_sample;
      do {
        auto place = index;
        bool inside = true;
        for (std::size_t d = 0; d < last; ++d) {
          place[d] += before(d);
          inside = inside && place[d] >= 0 && place[d] < padded[d];
        }
        place[last] = before(last) + skipped;
        if (inside) line(row + skipped, n * pixels_ + linear(place, padded));
        row += positions[last];
        index.back() = positions[last] - 1;
      } while (next_index(index, positions));
    }
  });
}

}  // namespace hot::backward
