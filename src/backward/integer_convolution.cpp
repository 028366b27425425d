#include "backward/integer_convolution.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "backward/folded_product.hpp"
#include "backward/padded_levels.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/device_backend.hpp"
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
        places_.push_back(w.values.narrow(0, kernels::panel_start(k_, j * channels_ / kPanel),
                                          kernels::panel_start(k_, channels_ / kPanel)));
      else
        places_.push_back(kernels::pack(matrix.narrow(1, j * channels_, channels_)).bytes);
    }
  }

  [[nodiscard]] std::int64_t channels() const { return channels_; }
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

/// The factors of a convolution.
struct Factors {
  const kernels::Operand& gy;
  const kernels::Operand& w;
  const PaddedLevels& levels;
  const PackedPlaces& places;
  std::int64_t pixels;  ///< of an image

  /// As folded_product() has it, so that both give the same bits.
  [[nodiscard]] bool integers() const {
    return sums_stay_integers(gy, w, static_cast<std::int64_t>(levels.distances().size()));
  }
};

/// The gradients of the places [first, end) of sample n, and `channels` channels of one panel.
struct Tile {
  std::int64_t n, first, end, panel, channel, channels;
};

/// One thread's tiles.
class Tiles {
 public:
  Tiles(const Factors& factors, float* image) : f_(factors), image_(image) {}

  void operator()(const Tile& tile) {
    if (f_.integers())
      add_integers(tile);
    else
      add_floats(tile);
    const auto [pixel, count] = move_pixels_together(tile);
    if (count == 0) return;
    const std::int64_t channel = tile.n * f_.places.channels() + tile.channel;
    kernels::cpu_ops().transpose(floats_.get(), tile.channels, count, tile.channels,
                                 image_ + channel * f_.pixels + pixel, f_.pixels);
  }

 private:
  struct Pixels {
    std::int64_t first, count;
  };

  [[nodiscard]] kernels::BlockProducts::Term term(const Tile& tile, std::size_t place) const {
    const PaddedLevels& levels = f_.levels;
    return {levels.sample(tile.n) + (tile.first + levels.distances()[place]) * levels.pitch(),
            f_.places.of(place, tile.panel)};
  }

  void sum(const Tile& tile, std::span<const kernels::BlockProducts::Term> terms) {
    const std::int64_t k = f_.levels.pitch();
    products_.sum(terms, tile.end - tile.first, f_.places.width(tile.panel), k, k, sums_.get());
  }

  [[nodiscard]] float factor() const { return 1.0F / static_cast<float>(f_.gy.transform.order); }

  /// Sums over places as integers, scaled once.
  void add_integers(const Tile& tile) {
    terms_.clear();
    for (std::size_t j = 0; j < f_.levels.distances().size(); ++j) terms_.push_back(term(tile, j));
    sum(tile, terms_);
    kernels::cpu_ops().dequantize(sums_.get(), f_.places.width(tile.panel), tile.end - tile.first,
                                  tile.channels, factor(), f_.gy.scales.const_data_ptr<float>(), 1,
                                  f_.w.scales.const_data_ptr<float>(), 1, floats_.get(),
                                  tile.channels);
  }

  /// Sums of the places' scaled products, in the order in which folding adds them: ascending
  /// positions.
  void add_floats(const Tile& tile) {
    const std::int64_t rows = tile.end - tile.first;
    const bool by_pixel = f_.gy.granularity == Granularity::row;
    const bool by_column = f_.w.granularity == Granularity::column;
    std::fill_n(floats_.get(), rows * tile.channels, 0.0F);
    for (std::size_t j = f_.levels.distances().size(); j-- > 0;) {
      const auto one = term(tile, j);
      sum(tile, std::span(&one, 1));
      const std::int64_t column =
          static_cast<std::int64_t>(j) * f_.places.channels() + tile.channel;
      kernels::cpu_ops().add_dequantized(
          sums_.get(), f_.places.width(tile.panel), rows, tile.channels, factor(),
          by_pixel ? f_.levels.scales(tile.n) + tile.first + f_.levels.distances()[j]
                   : f_.gy.scales.const_data_ptr<float>(),
          by_pixel ? rows : 1, f_.w.scales.const_data_ptr<float>() + (by_column ? column : 0),
          by_column ? tile.channels : 1, floats_.get(), tile.channels);
    }
  }

  /// The image's pixels side by side, without the padding in between.
  Pixels move_pixels_together(const Tile& tile) {
    const auto& lines = f_.levels.lines();
    auto line = std::partition_point(
        lines.begin(), lines.end(), [&](const auto& l) { return l.place + l.count <= tile.first; });
    Pixels pixels{0, 0};
    for (; line != lines.end() && line->place < tile.end; ++line) {
      const std::int64_t begin = std::max(tile.first, line->place);
      const std::int64_t some = std::min(tile.end, line->place + line->count) - begin;
      if (pixels.count == 0) pixels.first = line->pixel + begin - line->place;
      std::copy_n(floats_.get() + (begin - tile.first) * tile.channels, some * tile.channels,
                  floats_.get() + pixels.count * tile.channels);
      pixels.count += some;
    }
    return pixels;
  }

  const Factors& f_;
  float* image_;
  kernels::BlockProducts products_;
  std::vector<kernels::BlockProducts::Term> terms_;
  std::unique_ptr<std::int32_t[]> sums_ =
      std::make_unique_for_overwrite<std::int32_t[]>(kTilePixels * kPanel);
  std::unique_ptr<float[]> floats_ = std::make_unique_for_overwrite<float[]>(kTilePixels * kPanel);
};

std::int64_t places_of(const Window& window) {
  return c10::multiply_integers(window.kernel);
}

}  // namespace

bool convolves_integers(const kernels::Operand& gy, const Window& window) {
  if (kernels::backend_of(gy.values.device()) != nullptr) return false;
  if (kernels::integer_route().route != kernels::IntegerRoute::brgemm) return false;
  if (!window.convolution || window.transposed || gy.format == Format::none) return false;
  if (gy.block > 0) return false;
  if (std::any_of(window.stride.begin(), window.stride.end(), [](auto s) { return s != 1; }))
    return false;
  const std::int64_t terms = kernels::size_of(gy).cols * places_of(window);
  return terms > 0 && terms <= kernels::exact_terms(max_level(gy.format), 31);
}

at::Tensor integer_convolution(const kernels::Operand& gy, const kernels::Operand& w,
                               const Window& window, at::IntArrayRef x_sizes) {
  if (!convolves_integers(gy, window))
    throw std::logic_error("these operands are no integer convolution");
  const at::AutoDispatchBelowAutograd no_autograd;
  at::Tensor image = at::empty(x_sizes, at::kFloat);
  if (image.numel() == 0) return image;
  RECORD_FUNCTION("hot::integer_product", std::vector<c10::IValue>());
  const PaddedLevels levels(gy, window, x_sizes.slice(2));
  const PackedPlaces places(w, places_of(window));
  const Factors factors{gy, w, levels, places, c10::multiply_integers(x_sizes.slice(2))};
  const std::int64_t tiles = (levels.extent() + kTilePixels - 1) / kTilePixels;
  const std::int64_t panels = (places.channels() + kPanel - 1) / kPanel;
  float* out = image.mutable_data_ptr<float>();
  at::parallel_for(
      0, levels.samples() * tiles * panels, 1, [&](std::int64_t begin, std::int64_t end) {
        Tiles work(factors, out);
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int64_t first = i / panels % tiles * kTilePixels;
          const std::int64_t channel = i % panels * kPanel;
          work({i / panels / tiles, first, std::min(first + kTilePixels, levels.extent()),
                i % panels, channel, std::min(kPanel, places.channels() - channel)});
        }
      });
  return image;
}

}  // namespace hot::backward
