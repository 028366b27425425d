// What is done with the values of a run: largest magnitudes, and levels. Part of loops.hpp;
// internal linkage.
#pragma once

#include "kernels/cpu/random_words.hpp"
#include "kernels/cpu/tiles.hpp"

namespace hot::kernels {
namespace {

float largest_of(const float* __restrict values, std::int64_t count, float largest) {
  std::int32_t bits = magnitude_bits(largest);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t next = magnitude_bits(values[i]);
    bits = next > bits ? next : bits;
  }
  return std::bit_cast<float>(bits);
}

void raise_each(const float* __restrict values, std::int64_t count, float* __restrict largest) {
  for (std::int64_t i = 0; i < count; ++i) largest[i] = larger_magnitude(largest[i], values[i]);
}

/// per_column: a scale for each value; otherwise scale[0] for all of them.
template <bool per_column>
void nearest_run(const float* __restrict values, std::int64_t count, const float* __restrict scale,
                 float level, std::int8_t* __restrict out) {
  const float common = scale[0];
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int8_t>(
        round_nearest(scaled_to_level(values[i], per_column ? scale[i] : common, level)));
}

template <bool per_column>
void stochastic_run(const float* __restrict values, std::int64_t count,
                    const float* __restrict scale, float level,
                    const std::uint32_t* __restrict words, std::int8_t* __restrict out) {
  const float common = scale[0];
  for (std::int64_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int8_t>(round_stochastic(
        scaled_to_level(values[i], per_column ? scale[i] : common, level), words[i]));
}

/// Rounds the `count` values whose first one has index `first` in the whole matrix.
template <bool per_column>
void quantize_run(const float* values, std::int64_t count, const float* scale, float level,
                  const RoundingRule& rounding, std::int64_t first, std::int8_t* out) {
  if (rounding.mode == Rounding::nearest) {
    nearest_run<per_column>(values, count, scale, level, out);
    return;
  }
  std::uint32_t words[kRunFloats + 8];
  for (std::int64_t done = 0; done < count; done += kRunFloats) {
    const std::int64_t some = smaller(kRunFloats, count - done);
    const std::int64_t lane = (first + done) % 4;
    fill_words(rounding.seed, static_cast<std::uint64_t>((first + done) / 4), (lane + some + 3) / 4,
               words);
    stochastic_run<per_column>(values + done, some, per_column ? scale + done : scale, level,
                               words + lane, out + done);
  }
}

}  // namespace
}  // namespace hot::kernels
