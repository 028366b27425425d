#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "backward/window_runs.hpp"
#include "core/scheme.hpp"
#include "kernels/backward.hpp"

namespace hot::backward {

// A convolution's unfolded input (im2col) over pixel rows: [N·positions × places·C], the places of
// the kernel in order, the channels of each fastest.

/// int8 pixel rows [N·pixels, C] unfolded: [N·positions, places·C].
[[nodiscard]] at::Tensor unfold_levels(const at::Tensor& levels, const WindowRuns& runs);

/// An operand of pixel rows whose levels are unfolded.
[[nodiscard]] kernels::Operand unfolded(kernels::Operand pixels, const WindowRuns& runs);

/// A float32 image unfolded, as grad_weight's operand x by `scheme`; a few rows at a time, in
/// cache.
[[nodiscard]] kernels::Operand prepare_unfolded(const at::Tensor& image, const WindowRuns& runs,
                                                const Scheme& scheme);

/// The pixels of a float32 image quantized by the scheme of grad_weight, row by row, to be unfolded
/// later.
[[nodiscard]] kernels::Operand prepare_pixels(const at::Tensor& image, const Scheme& scheme);

/// The same where nothing is to be unfolded: grad_weight's operand x.
[[nodiscard]] kernels::Operand prepare_pixel_x(const at::Tensor& image, const Scheme& scheme);

/// True where unfolding the quantized pixels gives the integers of the quantized unfolded ones: no
/// transform, one scale, every pixel read.
[[nodiscard]] bool quantizes_before_unfolding(const Scheme& scheme, const WindowRuns& runs);

/// Adds `count` rows of an unfolded gradient from position `first` of one sample on, [count ×
/// places·C], to that sample's pixels [pixels × C]. float or int32.
template <class T>
void fold_rows(const T* rows, std::int64_t first, std::int64_t count, std::int64_t channels,
               const WindowRuns& runs, T* pixels);

}  // namespace hot::backward
