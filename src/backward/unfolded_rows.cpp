#include "backward/unfolded_rows.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "backward/device_windows.hpp"
#include "backward/pixel_rows.hpp"
#include "kernels/device_backend.hpp"

namespace hot::backward {
namespace {

/// One row of the unfolded matrix: the runs' pixels, zeros elsewhere.
void unfold_row(const std::int8_t* pixels, std::int64_t channels, const WindowRuns& runs,
                std::int64_t position, std::int8_t* row) {
  std::int64_t filled = 0;
  for (const auto& run : runs.at(position)) {
    std::fill(row + filled * channels, row + run.place * channels, std::int8_t{0});
    std::memcpy(row + run.place * channels, pixels + run.pixel * channels,
                static_cast<std::size_t>(run.count * channels));
    filled = run.place + run.count;
  }
  std::fill(row + filled * channels, row + runs.places() * channels, std::int8_t{0});
}

/// Rows [begin, end) of the matrix over all samples.
void unfold_rows(const std::int8_t* pixels, std::int64_t channels, const WindowRuns& runs,
                 std::int64_t begin, std::int64_t end, std::int8_t* out) {
  const std::int64_t cols = runs.places() * channels;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t sample = row / runs.positions();
    unfold_row(pixels + sample * runs.pixels() * channels, channels, runs, row % runs.positions(),
               out + (row - begin) * cols);
  }
}

/// Rows [begin, end) of one place's columns, `stride` elements apart.
void unfold_place(const float* pixels, std::int64_t channels, const WindowRuns& runs,
                  std::int64_t begin, std::int64_t end, std::int64_t place, std::int64_t stride,
                  float* out) {
  const std::int32_t* pixel = runs.pixels_of(place);
  std::int64_t position = begin % runs.positions();
  const float* sample = pixels + begin / runs.positions() * runs.pixels() * channels;
  for (std::int64_t row = begin; row < end; ++row, out += stride) {
    if (pixel[position] < 0)
      std::fill_n(out, channels, 0.0F);
    else
      std::copy_n(sample + pixel[position] * channels, channels, out);
    if (++position < runs.positions()) continue;
    position = 0;
    sample += runs.pixels() * channels;
  }
}

std::int64_t samples_of(const at::Tensor& pixels, const WindowRuns& runs) {
  return runs.pixels() == 0 ? 0 : pixels.size(0) / runs.pixels();
}

}  // namespace

at::Tensor unfold_levels(const at::Tensor& levels, const WindowRuns& runs) {
  if (kernels::backend_of(levels.device()) != nullptr) return unfold_on_device(levels, runs);
  const std::int64_t channels = levels.size(1);
  const std::int64_t cols = runs.places() * channels;
  const std::int64_t rows = samples_of(levels, runs) * runs.positions();
  at::Tensor unfolded = at::empty({rows, cols}, at::kChar);
  const auto* from = levels.const_data_ptr<std::int8_t>();
  auto* to = unfolded.mutable_data_ptr<std::int8_t>();
  at::parallel_for(0, rows, 1 + 65536 / std::max<std::int64_t>(cols, 1),
                   [&](std::int64_t begin, std::int64_t end) {
                     unfold_rows(from, channels, runs, begin, end, to + begin * cols);
                   });
  return unfolded;
}

bool quantizes_before_unfolding(const Scheme& scheme, const WindowRuns& runs) {
  return scheme.transform.kind == Transform::Kind::none && is_integer(scheme.format_of_other()) &&
         scheme.outliers == 0 && scheme.other == Granularity::tensor && runs.covers();
}

kernels::Operand prepare_pixels(const at::Tensor& image, const Scheme& scheme) {
  const kernels::Recipe recipe{kernels::Along::rows, scheme.transform, scheme.format_of_other(),
                               scheme.other};
  return prepare_pixel_rows(image, std::span(&recipe, 1)).front();
}

kernels::Operand unfolded(kernels::Operand pixels, const WindowRuns& runs) {
  pixels.values = unfold_levels(kernels::matrix_of(pixels), runs);
  pixels.layout.reset();
  return pixels;
}

kernels::Operand prepare_pixel_x(const at::Tensor& image, const Scheme& scheme) {
  const kernels::Recipe recipe = kernels::other_recipe(scheme);
  return prepare_pixel_rows(image, std::span(&recipe, 1)).front();
}

kernels::Operand prepare_unfolded(const at::Tensor& image, const WindowRuns& runs,
                                  const Scheme& scheme) {
  if (quantizes_before_unfolding(scheme, runs)) {
    return unfolded(prepare_pixels(image, scheme), runs);
  }
  const at::Tensor pixels = pixel_rows(image);
  if (kernels::backend_of(pixels.device()) != nullptr)
    return kernels::prepare_x(unfold_on_device(pixels, runs), scheme);
  const std::int64_t channels = pixels.size(1);
  const auto* from = pixels.const_data_ptr<float>();
  const kernels::RowSource unfolded{
      samples_of(pixels, runs) * runs.positions(), runs.places() * channels, channels,
      [&](std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t count,
          float* out) {
        for (std::int64_t col = first; col < first + count; col += channels)
          unfold_place(from, channels, runs, begin, end, col / channels, count, out + col - first);
      }};
  return kernels::prepare_x(unfolded, scheme);
}

template <class T>
void fold_rows(const T* rows, std::int64_t first, std::int64_t count, std::int64_t channels,
               const WindowRuns& runs, T* pixels) {
  const std::int64_t cols = runs.places() * channels;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const auto& run : runs.at(first + i)) {
      const T* __restrict from = rows + i * cols + run.place * channels;
      T* __restrict to = pixels + run.pixel * channels;
      const std::int64_t length = run.count * channels;
      for (std::int64_t c = 0; c < length; ++c) to[c] += from[c];
    }
  }
}

template void fold_rows(const float*, std::int64_t, std::int64_t, std::int64_t, const WindowRuns&,
                        float*);
template void fold_rows(const std::int32_t*, std::int64_t, std::int64_t, std::int64_t,
                        const WindowRuns&, std::int32_t*);

}  // namespace hot::backward
