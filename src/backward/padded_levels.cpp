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

PaddedLevels::PaddedLevels(const at::Tensor& levels, const Window& window, at::IntArrayRef image)
    : pitch_(kernels::rounded_up(levels.size(1), kernels::kPackedRows)) {
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
  if (as_it_is)
    data_ = levels;
  else
    fill(levels.contiguous(), window, positions, padded);
}

void PaddedLevels::fill(const at::Tensor& levels, const Window& window, at::IntArrayRef positions,
                        at::IntArrayRef padded) {
  // The last tile reads whole blocks of rows: nothing beyond the last pixel's own is asked of it.
  data_ = at::zeros({samples_ * pixels_, pitch_}, at::kChar);
  const std::size_t last = positions.size() - 1;
  const std::int64_t k = levels.size(1);
  const auto before = [&](std::size_t d) { return reach(window, d) - window.padding[d]; };
  const std::int64_t skipped = std::max<std::int64_t>(0, -before(last));
  const std::int64_t count =
      std::min(positions[last], padded[last] - before(last)) - skipped;  // of each line of gy
  if (count <= 0) return;
  const std::int64_t of_sample = c10::multiply_integers(positions);
  const std::int8_t* from = levels.const_data_ptr<std::int8_t>();
  auto* to = data_.mutable_data_ptr<std::int8_t>();
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
        const std::int8_t* source = from + (row + skipped) * k;
        std::int8_t* target = to + (n * pixels_ + linear(place, padded)) * pitch_;
        for (std::int64_t i = 0; inside && i < (k == pitch_ ? 1 : count); ++i)
          std::memcpy(target + i * pitch_, source + i * k,
                      static_cast<std::size_t>(k == pitch_ ? count * k : k));
        row += positions[last];
        index.back() = positions[last] - 1;
      } while (next_index(index, positions));
    }
  });
}

}  // namespace hot::backward
