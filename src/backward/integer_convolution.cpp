#include "backward/integer_convolution.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "backward/padded_levels.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/integer_gemm.hpp"
#include "kernels/levels.hpp"
#include "kernels/ops.hpp"

namespace hot::backward {
namespace {

using kernels::kPanel;

/// Pixels of a tile: its sums and their operands stay in a second-level cache.
constexpr std::int64_t kTilePixels = 128;

/// W's levels so that each place of the kernel is a packed matrix of its own [k × C].
class PackedPlaces {
 public:
  PackedPlaces(const kernels::Operand& w, std::int64_t places)
      : k_(kernels::size_of(w).rows), channels_(kernels::size_of(w).cols / places) {
    const bool whole_panels = w.packed && channels_ % kPanel == 0;
    const kernels::Packed all{w.values, k_, places * channels_};
    const at::Tensor matrix = whole_panels ? at::Tensor() : kernels::matrix_of(w);
    for (std::int64_t j = 0; j < places; ++j) {
      if (whole_panels)
        places_.push_back(w.values.narrow(
            0, kernels::panel_start(k_, j * channels_ / kPanel),
            kernels::panel_start(k_, channels_ / kPanel)));
      else
        places_.push_back(kernels::pack(matrix.narrow(1, j * channels_, channels_)).bytes);
    }
  }

  [[nodiscard]] std::int64_t channels() const { return channels_; }
  [[nodiscard]] std::int64_t panels() const { return (channels_ + kPanel - 1) / kPanel; }
  [[nodiscard]] std::int64_t width(std::int64_t panel) const {
    return kernels::panel_width(channels_, panel);
  }
  [[nodiscard]] const std::int8_t* of(std::size_t place, std::int64_t panel) const {
    return places_[place].const_data_ptr<std::int8_t>() + kernels::panel_start(k_, panel);
  }

 private:
  std::int64_t k_, channels_;
  std::vector<at::Tensor> places_;
};

/// One thread's tiles.
class Tiles {
 public:
  Tiles(const kernels::Operand& gy, const kernels::Operand& w, const PaddedLevels& levels,
        const PackedPlaces& places, std::int64_t pixels, float* image)
      : gy_(gy), w_(w), levels_(levels), places_(places), pixels_(pixels), image_(image) {}

  /// Pixels of sample `n` whose places lie in [first, end), and the channels of one panel.
  void operator()(std::int64_t n, std::int64_t first, std::int64_t end, std::int64_t panel) {
    const std::int64_t width = places_.width(panel);
    terms_.clear();
    for (std::size_t j = 0; j < levels_.distances().size(); ++j)
      terms_.push_back(
          {levels_.sample(n) + (first + levels_.distances()[j]) * levels_.pitch(),
           places_.of(j, panel)});
    products_.sum(terms_, end - first, width, levels_.pitch(), levels_.pitch(), sums_.get());
    const std::int64_t channel = panel * kPanel;
    const std::int64_t channels = std::min(width, places_.channels() - channel);
    const auto [pixel, count] = scaled(n, first, end, width, channel, channels);
    if (count == 0) return;
    kernels::cpu_ops().transpose(floats_.get(), channels, count, channels,
                                 image_ + (n * places_.channels() + channel) * pixels_ + pixel,
                                 pixels_);
  }

 private:
  struct Pixels {
    std::int64_t first, count;
  };

  /// The sums of the image's pixels as floats, without those of the padding in between.
  Pixels scaled(std::int64_t n, std::int64_t first, std::int64_t end, std::int64_t width,
                std::int64_t channel, std::int64_t channels) {
    const auto& lines = levels_.lines();
    auto line = std::partition_point(lines.begin(), lines.end(), [&](const auto& l) {
      return l.place + l.count <= first;
    });
    const bool by_row = gy_.scales.numel() != 1;
    const bool by_col = w_.scales.numel() != 1;
    Pixels pixels{-1, 0};
    for (; line != lines.end() && line->place < end; ++line) {
      const std::int64_t begin = std::max(first, line->place);
      const std::int64_t some = std::min(end, line->place + line->count) - begin;
      const std::int64_t pixel = line->pixel + begin - line->place;
      if (pixels.first < 0) pixels.first = pixel;
      kernels::cpu_ops().dequantize(
          sums_.get() + (begin - first) * width, width, some, channels,
          1.0F / static_cast<float>(gy_.transform.order),
          gy_.scales.const_data_ptr<float>() + (by_row ? n * pixels_ + pixel : 0),
          by_row ? some : 1, w_.scales.const_data_ptr<float>() + (by_col ? channel : 0),
          by_col ? channels : 1, floats_.get() + pixels.count * channels, channels);
      pixels.count += some;
    }
    return pixels;
  }

  const kernels::Operand& gy_;
  const kernels::Operand& w_;
  const PaddedLevels& levels_;
  const PackedPlaces& places_;
  std::int64_t pixels_;
  float* image_;
  kernels::BlockProducts products_;
  std::vector<kernels::BlockProducts::Term> terms_;
  std::unique_ptr<std::int32_t[]> sums_ =
      std::make_unique_for_overwrite<std::int32_t[]>(kTilePixels * kPanel);
  std::unique_ptr<float[]> floats_ =
      std::make_unique_for_overwrite<float[]>(kTilePixels * kPanel);
};

std::int64_t places_of(const Window& window) {
  return c10::multiply_integers(window.kernel);
}

}  // namespace

bool convolves_integers(const kernels::Operand& gy, const kernels::Operand& w,
                        const Window& window) {
  if (kernels::integer_route().route != kernels::IntegerRoute::brgemm) return false;
  if (!window.convolution || window.transposed || gy.format == Format::none) return false;
  if (std::any_of(window.stride.begin(), window.stride.end(), [](auto s) { return s != 1; }))
    return false;
  const std::int64_t places = places_of(window);
  const std::int64_t terms = kernels::size_of(gy).cols * places;
  if (terms == 0 || terms > kernels::exact_terms(max_level(gy.format), 31)) return false;
  return window.trivial() || (gy.scales.numel() == 1 && w.scales.numel() == 1);
}

at::Tensor integer_convolution(const kernels::Operand& gy, const kernels::Operand& w,
                               const Window& window, at::IntArrayRef x_sizes) {
  if (!convolves_integers(gy, w, window))
    throw std::logic_error("these operands are no integer convolution");
  const at::AutoDispatchBelowAutograd no_autograd;
  at::Tensor image = at::empty(x_sizes, at::kFloat);
  if (image.numel() == 0) return image;
  RECORD_FUNCTION("hot::integer_product", std::vector<c10::IValue>());
  const PaddedLevels levels(gy.values, window, x_sizes.slice(2));
  const PackedPlaces places(w, places_of(window));
  const std::int64_t pixels = c10::multiply_integers(x_sizes.slice(2));
  const std::int64_t tiles = (levels.extent() + kTilePixels - 1) / kTilePixels;
  float* out = image.mutable_data_ptr<float>();
  at::parallel_for(
      0, levels.samples() * tiles * places.panels(), 1, [&](std::int64_t begin, std::int64_t end) {
        Tiles work(gy, w, levels, places, pixels, out);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t first = i / places.panels() % tiles * kTilePixels;
          work(i / places.panels() / tiles, first, std::min(first + kTilePixels, levels.extent()),
               i % places.panels());
        }
      });
  return image;
}

}  // namespace hot::backward
