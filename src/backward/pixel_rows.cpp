#include "backward/pixel_rows.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "kernels/device_backend.hpp"
#include "kernels/ops.hpp"

namespace hot::backward {
namespace {

/// Pixels that a thread moves at once, and channels: streams of memory that it follows.
constexpr std::int64_t kPixels = 256;
constexpr std::int64_t kChannels = 16;

/// Calls move(image, first channel, channels, first pixel, pixels) from several threads for pieces
/// of `count` images.
template <class Move>
void over_images(std::int64_t count, std::int64_t channels, std::int64_t pixels, const Move& move) {
  const std::int64_t parts = (pixels + kPixels - 1) / kPixels;
  const std::int64_t grain =
      1 + 32768 / std::max<std::int64_t>(1, channels * std::min(pixels, kPixels));
  at::parallel_for(0, count * parts, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i % parts * kPixels;
      for (std::int64_t c = 0; c < channels; c += kChannels)
        move(i / parts, c, std::min(kChannels, channels - c), first,
             std::min(kPixels, pixels - first));
    }
  });
}

/// Rows [begin, end) of the pixels of a contiguous image, over all samples.
void turn_pixels(const float* image, std::int64_t channels, std::int64_t pixels, std::int64_t begin,
                 std::int64_t end, float* out) {
  const auto& ops = kernels::cpu_ops();
  while (begin < end) {
    const std::int64_t first = begin % pixels;
    const std::int64_t count = std::min(pixels - first, end - begin);
    const float* from = image + begin / pixels * channels * pixels + first;
    for (std::int64_t p = 0; p < count; p += kPixels)
      for (std::int64_t c = 0; c < channels; c += kChannels)
        ops.transpose(from + c * pixels + p, pixels, std::min(kChannels, channels - c),
                      std::min(kPixels, count - p), out + p * channels + c, channels);
    out += count * channels;
    begin += count;
  }
}

/// True for what the CPU's blocked copies move.
bool is_ours(const at::Tensor& t) {
  return t.scalar_type() == at::kFloat && kernels::backend_of(t.device()) == nullptr;
}

}  // namespace

std::vector<kernels::Operand> prepare_pixel_rows(const at::Tensor& image,
                                                 std::span<const kernels::Recipe> recipes) {
  if (image.movedim(1, -1).is_contiguous() || image.numel() == 0 || !is_ours(image))
    return kernels::prepare_all(pixel_rows(image), recipes);
  const at::Tensor source = image.resolve_neg().contiguous();
  const std::int64_t channels = image.size(1);
  const std::int64_t pixels = image.numel() / (image.size(0) * channels);
  const float* from = source.const_data_ptr<float>();
  return kernels::prepare_all(
      kernels::RowSource{
          image.size(0) * pixels, channels, 0,
          [=](std::int64_t begin, std::int64_t end, std::int64_t /*first*/, std::int64_t /*count*/,
              float* out) { turn_pixels(from, channels, pixels, begin, end, out); }},
      recipes);
}

at::Tensor pixel_rows(const at::Tensor& image) {
  const std::int64_t channels = image.size(1);
  const at::Tensor last = image.movedim(1, -1);
  if (last.is_contiguous() || !is_ours(image)) return last.reshape({-1, channels});
  const at::Tensor source = image.resolve_neg().contiguous();
  const std::int64_t pixels =
      channels == 0 || image.size(0) == 0 ? 0 : source.numel() / (channels * image.size(0));
  at::Tensor rows = at::empty({image.size(0) * pixels, channels},
                              image.options().memory_format(at::MemoryFormat::Contiguous));
  const float* from = source.const_data_ptr<float>();
  float* to = rows.mutable_data_ptr<float>();
  over_images(image.size(0), channels, pixels,
              [&, &ops = kernels::cpu_ops()](std::int64_t i, std::int64_t c, std::int64_t some,
                                             std::int64_t first, std::int64_t count) {
                ops.transpose(from + (i * channels + c) * pixels + first, pixels, some, count,
                              to + (i * pixels + first) * channels + c, channels);
              });
  return rows;
}

at::Tensor image_of_pixel_rows(const at::Tensor& rows, at::IntArrayRef sizes) {
  if (!is_ours(rows)) {
    std::vector<std::int64_t> last(sizes.begin(), sizes.end());
    std::rotate(last.begin() + 1, last.begin() + 2, last.end());
    return rows.reshape(last).movedim(-1, 1).contiguous();
  }
  const at::Tensor source = rows.contiguous();
  at::Tensor image = at::empty(sizes, rows.options());
  if (image.numel() == 0) return image;
  const std::int64_t pixels = image.numel() / (sizes[0] * sizes[1]);
  const std::int64_t channels = sizes[1];
  const float* from = source.const_data_ptr<float>();
  float* to = image.mutable_data_ptr<float>();
  over_images(sizes[0], channels, pixels,
              [&, &ops = kernels::cpu_ops()](std::int64_t i, std::int64_t c, std::int64_t some,
                                             std::int64_t first, std::int64_t count) {
                ops.transpose(from + (i * pixels + first) * channels + c, channels, count, some,
                              to + (i * channels + c) * pixels + first, pixels);
              });
  return image;
}

}  // namespace hot::backward
