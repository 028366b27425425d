#include "backward/unfolded_rows.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "backward/device_windows.hpp"
#include "kernels/device_backend.hpp"

namespace hot::backward {
namespace {

/// One row of the unfolded matrix: the runs' pixels, zeros elsewhere.
template <class T>
void unfold_row(const T* pixels, std::int64_t channels, const WindowRuns& runs,
                std::int64_t position, T* row) {
  std::int64_t filled = 0;
  for (const auto& run : runs.at(position)) {
    std::fill(row + filled * channels, row + run.place * channels, T{0});
    std::memcpy(row + run.place * channels, pixels + run.pixel * channels,
                static_cast<std::size_t>(run.count * channels) * sizeof(T));
    filled = run.place + run.count;
  }
  std::fill(row + filled * channels, row + runs.places() * channels, T{0});
}

/// Rows [begin, end) of the matrix over all samples.
template <class T>
void unfold_rows(const T* pixels, std::int64_t channels, const WindowRuns& runs, std::int64_t begin,
                 std::int64_t end, T* out) {
  const std::int64_t cols = runs.places() * channels;
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t sample = row / runs.positions();
    unfold_row(pixels + sample * runs.pixels() * channels, channels, runs, row % runs.positions(),
               out + (row - begin) * cols);
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
  return scheme.transform.kind == Transform::Kind::none && scheme.format != Format::none &&
         scheme.other == Granularity::tensor && runs.covers();
}

kernels::Operand prepare_pixels(const at::Tensor& pixels, const Scheme& scheme) {
  return kernels::prepare(pixels, kernels::Along::rows, scheme.transform, scheme.format,
                          scheme.other, Rounding::nearest, 0);
}

kernels::Operand unfolded(kernels::Operand pixels, const WindowRuns& runs) {
  pixels.values = unfold_levels(kernels::matrix_of(pixels), runs);
  pixels.layout.reset();
  return pixels;
}

kernels::Operand prepare_unfolded(const at::Tensor& pixels, const WindowRuns& runs,
                                  const Scheme& scheme) {
  if (quantizes_before_unfolding(scheme, runs)) {
    kernels::Operand operand = prepare_pixels(pixels, scheme);
    return unfolded(std::move(operand), runs);
  }
  if (kernels::backend_of(pixels.device()) != nullptr)
    return kernels::prepare_x(unfold_on_device(pixels, runs), scheme);
  const std::int64_t channels = pixels.size(1);
  const auto* from = pixels.const_data_ptr<float>();
  const kernels::RowSource unfolded{samples_of(pixels, runs) * runs.positions(),
                                    runs.places() * channels,
                                    [&](std::int64_t begin, std::int64_t end, float* out) {
                                      unfold_rows(from, channels, runs, begin, end, out);
                                    }};
  return kernels::prepare_x(unfolded, scheme);
}

void fold_rows(const float* rows, std::int64_t first, std::int64_t count, std::int64_t channels,
               const WindowRuns& runs, float* pixels) {
  const std::int64_t cols = runs.places() * channels;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const auto& run : runs.at(first + i)) {
      const float* __restrict from = rows + i * cols + run.place * channels;
      float* __restrict to = pixels + run.pixel * channels;
      const std::int64_t length = run.count * channels;
      for (std::int64_t c = 0; c < length; ++c) to[c] += from[c];
    }
  }
}

}  // namespace hot::backward
