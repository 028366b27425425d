#include "backward/folded_product.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <vector>

#include "backward/device_windows.hpp"
#include "backward/unfolded_rows.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/device_operand.hpp"
#include "kernels/ops.hpp"

namespace hot::backward {
namespace {

/// Elements of the unfolded gradient that are made at once by all threads together: 16 MiB. Below
/// that one product serves all samples, which packs W once.
constexpr std::int64_t kWhole = 4 << 20;
/// Elements of one thread's piece: 1 MiB, within a second-level cache.
constexpr std::int64_t kPiece = 1 << 18;

struct Shape {
  std::int64_t samples, positions, cols, channels;
};

Shape shape_of(const kernels::Operand& gy, const kernels::Operand& w, const WindowRuns& runs) {
  const std::int64_t cols = kernels::size_of(w).cols;
  return {kernels::size_of(gy).rows / std::max<std::int64_t>(1, runs.positions()), runs.positions(),
          cols, cols / runs.places()};
}

/// How the product of some rows with W is made; of T, float or int32.
using Product = at::Tensor (*)(const kernels::Operand& gy, const kernels::Operand& w);

template <class T>
void fold_whole(const kernels::Operand& gy, const kernels::Operand& w, const WindowRuns& runs,
                const Shape& s, Product product, T* pixels) {
  const at::Tensor unfolded = product(gy, w);
  const auto* rows = unfolded.const_data_ptr<T>();
  at::parallel_for(0, s.samples, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = begin; sample < end; ++sample)
      fold_rows(rows + sample * s.positions * s.cols, 0, s.positions, s.channels, runs,
                pixels + sample * runs.pixels() * s.channels);
  });
}

template <class T>
void fold_in_pieces(const kernels::Operand& gy, const kernels::Operand& w, const WindowRuns& runs,
                    const Shape& s, Product product, T* pixels) {
  const std::int64_t step = std::clamp<std::int64_t>(kPiece / s.cols, 1, s.positions);
  at::parallel_for(0, s.samples, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = begin; sample < end; ++sample)
      for (std::int64_t first = 0; first < s.positions; first += step) {
        const std::int64_t count = std::min(step, s.positions - first);
        const at::Tensor piece =
            product(kernels::rows_of(gy, sample * s.positions + first, count), w);
        fold_rows(piece.const_data_ptr<T>(), first, count, s.channels, runs,
                  pixels + sample * runs.pixels() * s.channels);
      }
  });
}

template <class T>
void fold(const kernels::Operand& gy, const kernels::Operand& w, const WindowRuns& runs,
          const Shape& s, Product product, T* pixels) {
  if (s.samples * s.positions * s.cols <= kWhole || gy.deferred)  // outliers are those of all rows
    fold_whole(gy, w, runs, s, product, pixels);
  else
    fold_in_pieces(gy, w, runs, s, product, pixels);
}

/// The samples of gy folded at once. Scales of single rows go with their rows.
at::Tensor some_samples(const kernels::DeviceBackend& device, const kernels::Operand& gy,
                        const kernels::Operand& w, const WindowRuns& runs) {
  if (!sums_stay_integers(gy, w, runs.places()))
    return fold_on_device(kernels::multiply(gy, w), runs);
  return kernels::device_scaled(device, fold_on_device(kernels::device_sums(device, gy, w), runs),
                                gy, w);
}

/// On a device; out of memory, by halves of the samples, down to one.
at::Tensor folded_on(const kernels::DeviceBackend& device, const kernels::Operand& gy,
                     const kernels::Operand& w, const WindowRuns& runs) {
  const Shape s = shape_of(gy, w, runs);
  for (std::int64_t step = s.samples;; step = (step + 1) / 2) {
    try {
      if (step >= s.samples) return some_samples(device, gy, w, runs);
      std::vector<at::Tensor> parts;
      for (std::int64_t first = 0; first < s.samples; first += step) {
        const std::int64_t count = std::min(step, s.samples - first);
        parts.push_back(some_samples(
            device, kernels::rows_of(gy, first * s.positions, count * s.positions), w, runs));
      }
      return at::cat(parts);
    } catch (const c10::OutOfMemoryError&) {
      if (step <= 1) throw;
    }
  }
}

/// Integer sums by their one scale, in their own memory.
at::Tensor scaled(const at::Tensor& sums, const kernels::Operand& gy, const kernels::Operand& w) {
  at::Tensor result = sums.view(at::kFloat);
  const auto* integers = sums.const_data_ptr<std::int32_t>();
  float* values = result.mutable_data_ptr<float>();
  at::parallel_for(0, sums.numel(), kPiece, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t count = end - begin;
    kernels::cpu_ops().dequantize(integers + begin, count, 1, count,
                                  1.0F / static_cast<float>(gy.transform.order),
                                  gy.scales.const_data_ptr<float>(), 1,
                                  w.scales.const_data_ptr<float>(), 1, values + begin, count);
  });
  return result;
}

}  // namespace

bool sums_stay_integers(const kernels::Operand& gy, const kernels::Operand& w,
                        std::int64_t places) {
  return is_integer(gy.format) && gy.block == 0 && w.block == 0 && gy.scales.numel() == 1 &&
         w.scales.numel() == 1 &&
         kernels::size_of(gy).cols * places <= kernels::exact_terms(max_level(gy.format), 31);
}

at::Tensor folded_product(const kernels::Operand& gy, const kernels::Operand& w,
                          const WindowRuns& runs) {
  if (const auto* device = kernels::backend_of(gy.values.device()))
    return folded_on(*device, gy, w, runs);
  const Shape s = shape_of(gy, w, runs);
  const bool integers = sums_stay_integers(gy, w, runs.places());
  at::Tensor result =
      at::zeros({s.samples * runs.pixels(), s.channels}, integers ? at::kInt : at::kFloat);
  if (result.numel() == 0 || s.positions == 0) return result.to(at::kFloat);
  if (!integers) {
    fold(gy, w, runs, s, kernels::multiply, result.mutable_data_ptr<float>());
    return result;
  }
  fold(gy, w, runs, s, kernels::integer_sums, result.mutable_data_ptr<std::int32_t>());
  return scaled(result, gy, w);
}

}  // namespace hot::backward
