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

/// Quotients v / scale of a run with one scale for all values.
struct CommonScale {
  explicit CommonScale(const float* at) : value(at[0]) {}
  Floats quotient(const Floats& v, std::int64_t /*index*/) const { return v / value; }
  float of(std::int64_t /*index*/) const { return value; }
  float value;
};

/// The same bits without a division: the residual of v · (1 / scale), which a fused operation has
/// exactly, corrects it to the rounded quotient (Markstein: "Computation of elementary functions on
/// the IBM RISC System/6000 processor", IBM J. Res. Dev. 34, 1990). Right where nothing underflows
/// that matters and nothing overflows: usable() scales, no value far beyond level · scale.
struct FusedScale {
  explicit FusedScale(const float* at)
      : value(at[0]), vector(Floats{} + at[0]), inverse(Floats{} + 1.0F / at[0]) {}
  static bool usable(float scale) { return kFused && scale >= 0x1p-70F && scale <= 0x1p70F; }
  Floats quotient(const Floats& v, std::int64_t /*index*/) const {
    const Floats near = v * inverse;
    const Floats residual = fused(-near, vector, v);
    return fused(residual, inverse, near);
  }
  float of(std::int64_t /*index*/) const { return value; }
  float value;
  Floats vector, inverse;
};

/// A scale for each value.
struct ColumnScales {
  explicit ColumnScales(const float* at) : values(at) {}
  Floats quotient(const Floats& v, std::int64_t index) const {
    Floats scales;
    load(scales, values + index);
    return v / scales;
  }
  float of(std::int64_t index) const { return values[index]; }
  const float* values;
};

/// As scaled_to_level() has it, also for NaN.
inline Floats inside(const Floats& quotients, float level) {
  const Floats most = Floats{} + level;
  const Floats capped = quotients < most ? quotients : most;
  return capped > -most ? capped : -most;
}

/// 1.5 · 2²³: adding it leaves an integer's two's complement in the low bits.
constexpr float kShift = 12582912.0F;

/// The low byte of each lane.
inline void store_levels(const Floats& shifted, std::int8_t* out) {
#if HOT_VECTOR_FLOATS == 16
  const __m128i bytes = _mm512_maskz_cvtepi32_epi8(0xffff, reinterpret_cast<__m512i>(shifted));
  std::memcpy(out, &bytes, sizeof(bytes));
#elif HOT_VECTOR_FLOATS == 8
  const __m256i low = _mm256_set1_epi32(0x0c080400);
  const __m256i halves = _mm256_shuffle_epi8(reinterpret_cast<__m256i>(shifted), low);
  const __m256i bytes =
      _mm256_permutevar8x32_epi32(halves, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4));
  std::memcpy(out, &bytes, kLanes);
#else
  const auto bits = reinterpret_cast<Ints>(shifted);
  for (int i = 0; i < kLanes; ++i) out[i] = static_cast<std::int8_t>(bits[i]);
#endif
}

template <class Scale>
void nearest_run(const float* __restrict values, std::int64_t count, const Scale& scale,
                 float level, std::int8_t* __restrict out) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Floats v;
    load(v, values + i);
    store_levels(inside(scale.quotient(v, i), level) + kShift, out + i);
  }
  for (; i < count; ++i)
    out[i] =
        static_cast<std::int8_t>(round_nearest(scaled_to_level(values[i], scale.of(i), level)));
}

/// kLanes numbers of sixteen bits each.
inline Ints widened(const std::uint16_t* bits) {
#if HOT_VECTOR_FLOATS == 16
  __m256i halves;
  std::memcpy(&halves, bits, sizeof(halves));
  return reinterpret_cast<Ints>(_mm512_maskz_cvtepu16_epi32(0xffff, halves));
#elif HOT_VECTOR_FLOATS == 8
  __m128i halves;
  std::memcpy(&halves, bits, sizeof(halves));
  return reinterpret_cast<Ints>(_mm256_cvtepu16_epi32(halves));
#else
  Ints wide;
  for (int i = 0; i < kLanes; ++i) wide[i] = bits[i];
  return wide;
#endif
}

/// round_stochastic(), with the integer in the low bits.
inline Floats stochastic_shifted(const Floats& t, const std::uint16_t* bits) {
  // Both steps are exact, fused or not.
  const Floats uniform = fused(__builtin_convertvector(widened(bits), Floats), Floats{} + 0x1p-16F,
                               Floats{} + 0x1p-17F);
  const Floats nearest = (t + kShift) - kShift;
  const Floats floor = nearest > t ? nearest - 1.0F : nearest;
  return (uniform < t - floor ? floor + 1.0F : floor) + kShift;
}

template <class Scale>
void stochastic_run(const float* __restrict values, std::int64_t count, const Scale& scale,
                    float level, const std::uint16_t* __restrict bits,
                    std::int8_t* __restrict out) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Floats v;
    load(v, values + i);
    store_levels(stochastic_shifted(inside(scale.quotient(v, i), level), bits + i), out + i);
  }
  for (; i < count; ++i)
    out[i] = static_cast<std::int8_t>(
        round_stochastic(scaled_to_level(values[i], scale.of(i), level), bits[i]));
}

/// Rounds the `count` values whose first one has index `first` in the whole matrix.
template <class Scale>
void quantize_with(const float* values, std::int64_t count, const float* scales, float level,
                   const RoundingRule& rounding, std::int64_t first, std::int8_t* out) {
  if (rounding.mode == Rounding::nearest) {
    nearest_run(values, count, Scale(scales), level, out);
    return;
  }
  constexpr std::int64_t step = std::is_same_v<Scale, ColumnScales> ? 1 : 0;
  std::uint16_t bits[bits_room(kRunFloats)];
  for (std::int64_t done = 0; done < count; done += kRunFloats) {
    const std::int64_t some = smaller(kRunFloats, count - done);
    const std::int64_t lane = (first + done) % kElementsPerGroup;
    fill_bits(rounding.seed, static_cast<std::uint64_t>((first + done) / kElementsPerGroup),
              (lane + some + kElementsPerGroup - 1) / kElementsPerGroup, bits);
    stochastic_run(values + done, some, Scale(scales + done * step), level, bits + lane,
                   out + done);
  }
}

/// per_column: a scale for each value; otherwise scales[0] for all of them.
template <bool per_column>
void quantize_run(const float* values, std::int64_t count, const float* scales, float level,
                  const RoundingRule& rounding, std::int64_t first, std::int8_t* out) {
  if constexpr (per_column)
    quantize_with<ColumnScales>(values, count, scales, level, rounding, first, out);
  else if (FusedScale::usable(scales[0]))
    quantize_with<FusedScale>(values, count, scales, level, rounding, first, out);
  else
    quantize_with<CommonScale>(values, count, scales, level, rounding, first, out);
}

}  // namespace
}  // namespace hot::kernels
