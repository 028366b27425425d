// Registers of floats in the width that a backend chose (HOT_VECTOR_FLOATS), and the butterflies
// inside them. Part of loops.hpp; internal linkage, like everything there.
#pragma once

#include "kernels/cpu/loops_includes.hpp"

namespace hot::kernels {
namespace {

constexpr int kLanes = HOT_VECTOR_FLOATS;
using Floats [[gnu::vector_size(4 * kLanes)]] = float;
using Ints [[gnu::vector_size(4 * kLanes)]] = std::int32_t;

/// kLanes floats from any address.
inline void load(Floats& vector, const float* from) {
  std::memcpy(&vector, from, sizeof(vector));
}
inline void store(const Floats& vector, float* to) {
  std::memcpy(to, &vector, sizeof(vector));
}

/// a · b + c with one rounding; only where the CPU has it (kFused).
constexpr bool kFused = kLanes > 4;
inline Floats fused(const Floats& a, const Floats& b, const Floats& c) {
#if HOT_VECTOR_FLOATS == 16
  return _mm512_fmadd_ps(a, b, c);
#elif HOT_VECTOR_FLOATS == 8
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

/// One stage of butterflies between lanes `distance` apart: the sum at the lower lane, the
/// difference at the upper one, to the bit what butterfly() gives.
template <int distance, std::size_t... lane>
inline void lane_stage(Floats& v, std::index_sequence<lane...>) {
  const Floats other = __builtin_shufflevector(v, v, (static_cast<int>(lane) ^ distance)...);
  const Floats signs = {((lane & distance) != 0 ? -1.0F : 1.0F)...};
  v = fused(v, signs, other);  // the product is exact, so that the sum is rounded once either way
}

/// Each `n` consecutive lanes times H_n, n ≤ kLanes.
template <int n>
inline void hadamard_in_lanes(Floats& v) {
  constexpr auto lanes = std::make_index_sequence<kLanes>();
  if constexpr (n > 1) lane_stage<1>(v, lanes);
  if constexpr (n > 2) lane_stage<2>(v, lanes);
  if constexpr (n > 4) lane_stage<4>(v, lanes);
  if constexpr (n > 8) lane_stage<8>(v, lanes);
}

/// `n` vectors times H_n, element by element.
template <int n>
inline void hadamard_of_vectors(Floats (&v)[n]) {
#pragma GCC unroll 16
  for (int distance = 1; distance < n; distance *= 2)
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) {
      if ((i & distance) != 0) continue;
      const Floats low = v[i];
      const Floats high = v[i + distance];
      v[i] = low + high;
      v[i + distance] = low - high;
    }
}

template <int distance, std::size_t... lane>
inline void swap_lanes(Floats& low, Floats& high, std::index_sequence<lane...>) {
  constexpr auto from = [](std::size_t i, bool upper) {
    const int here = static_cast<int>(i);
    if ((here & distance) != 0) return kLanes + here - (upper ? 0 : distance);
    return here + (upper ? distance : 0);
  };
  const Floats first = __builtin_shufflevector(low, high, from(lane, false)...);
  high = __builtin_shufflevector(low, high, from(lane, true)...);
  low = first;
}

template <int distance>
inline void transpose_stage(Floats (&v)[kLanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < kLanes; ++i)
    if ((i & distance) == 0)
      swap_lanes<distance>(v[i], v[i + distance], std::make_index_sequence<kLanes>());
}

/// Lane j of vector i becomes lane i of vector j.
inline void transpose(Floats (&v)[kLanes]) {
  transpose_stage<1>(v);
  transpose_stage<2>(v);
  if constexpr (kLanes > 4) transpose_stage<4>(v);
  if constexpr (kLanes > 8) transpose_stage<8>(v);
}

}  // namespace
}  // namespace hot::kernels
