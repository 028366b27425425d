#include "backward/folded_product.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "backward/device_windows.hpp"
#include "backward/unfolded_rows.hpp"
#include "kernels/device_backend.hpp"

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

void fold_whole(const kernels::Operand& gy, const kernels::Operand& w, const WindowRuns& runs,
                const Shape& s, float* pixels) {
  const at::Tensor unfolded = kernels::multiply(gy, w);
  const auto* rows = unfolded.const_data_ptr<float>();
  at::parallel_for(0, s.samples, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = begin; sample < end; ++sample)
      fold_rows(rows + sample * s.positions * s.cols, 0, s.positions, s.channels, runs,
                pixels + sample * runs.pixels() * s.channels);
  });
}

void fold_in_pieces(const kernels::Operand& gy, const kernels::Operand& w, const WindowRuns& runs,
                    const Shape& s, float* pixels) {
  const std::int64_t step = std::clamp<std::int64_t>(kPiece / s.cols, 1, s.positions);
  at::parallel_for(0, s.samples, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t sample = begin; sample < end; ++sample)
      for (std::int64_t first = 0; first < s.positions; first += step) {
        const std::int64_t count = std::min(step, s.positions - first);
        const at::Tensor piece =
            kernels::multiply(kernels::rows_of(gy, sample * s.positions + first, count), w);
        fold_rows(piece.const_data_ptr<float>(), first, count, s.channels, runs,
                  pixels + sample * runs.pixels() * s.channels);
      }
  });
}

}  // namespace

at::Tensor folded_product(const kernels::Operand& gy, const kernels::Operand& w,
                          const WindowRuns& runs) {
  if (kernels::backend_of(gy.values.device()) != nullptr)
    return fold_on_device(kernels::multiply(gy, w), runs);
  const Shape s = shape_of(gy, w, runs);
  at::Tensor result = at::zeros({s.samples * runs.pixels(), s.channels}, at::kFloat);
  if (result.numel() == 0 || s.positions == 0) return result;
  const bool whole = s.samples * s.positions * s.cols <= kWhole;
  (whole ? fold_whole : fold_in_pieces)(gy, w, runs, s, result.mutable_data_ptr<float>());
  return result;
}

}  // namespace hot::backward
