#pragma once

#include "kernels/common/hadamard.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/number.hpp"
#include "kernels/cuda/pass_params.hpp"

// The part of an operand that one thread holds in registers, and its transform.

namespace hot::kernels::HOT_SIDE {

/// Elements of one 16-byte access.
template <class T>
constexpr int kVector = 16 / static_cast<int>(sizeof(T));

constexpr int kWarps = kPassThreads / kWarp;

HOT_DEVICE Tile tile_of(const PassParams& p) {
  const std::int64_t block = block_index();
  if (p.terms_first) return {block % p.term_tiles, block / p.term_tiles};
  return {block / p.free_tiles, block % p.free_tiles};
}

/// Which contracted terms and free vectors a thread holds, in an operand whose free dimension is
/// contiguous (`across`: a thread loads 16 bytes of each of some terms) or whose contracted one is
/// (a thread loads 16 bytes of each of some free vectors). Blocks of up to 32 terms lie within a
/// warp: butterflies run in registers first, then between lanes.
template <class T, bool across>
struct Shape {
  static constexpr int kTerms = across ? (sizeof(T) == 4 ? 16 : 4) : kVector<T>;
  static constexpr int kFrees = across ? kVector<T> : 32 / kVector<T>;

  /// Lanes that hold one block of an order above 16, at least as many as make 16 terms.
  HOT_DEVICE static int groups(int order) {
    if (!across) return kWarp;
    return (order > 16 ? 32 : 16) / kTerms;
  }
  /// Distance of the lanes that hold neighbouring terms.
  HOT_DEVICE static int lane_step(int order) { return across ? kWarp / groups(order) : 1; }
  static HOT_HOST_DEVICE int tile_terms(int order) {
    if (!across) return kWarp * kTerms;
    return kWarps * (order > 16 ? 32 : 16);
  }
  static HOT_HOST_DEVICE int tile_frees(int order) {
    if (!across) return kWarps * kFrees;
    return kWarp / ((order > 16 ? 32 : 16) / kTerms) * kFrees;
  }
};

template <class T, bool across>
struct Fragment {
  using S = Shape<T, across>;
  static constexpr int kTerms = S::kTerms;
  static constexpr int kFrees = S::kFrees;

  float values[kTerms][kFrees];
  int term, free;             ///< of values[0][0], inside the tile
  std::int64_t term0, free0;  ///< the same, in the operand

  HOT_DEVICE void read(const PassParams& p, Tile tile) {
    const int lane = thread_index() % kWarp;
    const int warp = thread_index() / kWarp;
    const int step = S::lane_step(p.order);
    if constexpr (across) {
      term = warp * S::groups(p.order) * kTerms + lane / step * kTerms;
      free = lane % step * kFrees;
    } else {
      term = lane * kTerms;
      free = warp * kFrees;
    }
    term0 = tile.term * S::tile_terms(p.order) + term;
    free0 = tile.free * S::tile_frees(p.order) + free;
    fill(p);
    transform(p.order, step);
  }

 private:
  /// Vectors along the contiguous dimension; zeros beyond the operand.
  HOT_DEVICE void fill(const PassParams& p) {
    constexpr int vectors = across ? kTerms : kFrees;
    const T* data = static_cast<const T*>(p.data);
    const std::int64_t first = across ? free0 : term0;
    const std::int64_t end = across ? p.free : p.terms;
    const std::int64_t other = across ? term0 : free0;
    const std::int64_t other_end = across ? p.terms : p.free;
    const std::int64_t stride = across ? p.term_stride : p.free_stride;
    const bool whole = p.vectors && first + kVector<T> <= end;
    HOT_UNROLL
    for (int v = 0; v < vectors; ++v) {
      const bool there = other + v < other_end;
      const T* from = data + (other + v) * stride + first;
      T elements[kVector<T>]{};
      if (there && whole) {
        const Bytes16 bytes = load(reinterpret_cast<const Bytes16*>(from));
        split(bytes, elements);
      } else if (there) {
        HOT_UNROLL
        for (int i = 0; i < kVector<T>; ++i)
          if (first + i < end) elements[i] = load(from + i);
      }
      HOT_UNROLL
      for (int i = 0; i < kVector<T>; ++i)
        (across ? values[v][i] : values[i][v]) = to_float(elements[i]);
    }
  }

  HOT_DEVICE static void split(const Bytes16& bytes, float (&elements)[kVector<T>]) {
    HOT_UNROLL
    for (int i = 0; i < kVector<T>; ++i) elements[i] = std::bit_cast<float>(bytes.word[i]);
  }
  template <class Short>
  HOT_DEVICE static void split(const Bytes16& bytes, Short (&elements)[8]) {
    HOT_UNROLL
    for (int i = 0; i < 8; ++i)
      elements[i].bits = static_cast<std::uint16_t>(bytes.word[i / 2] >> (i % 2 * 16));
  }

  /// Stages with distance 1, 2, 4 … n/2, the sum at the lower index, as everywhere.
  HOT_DEVICE void transform(int order, int step) {
    HOT_UNROLL
    for (int distance = 1; distance < kTerms; distance *= 2) {
      if (distance >= order) break;
      HOT_UNROLL
      for (int i = 0; i < kTerms; ++i)
        if ((i & distance) == 0) HOT_UNROLL
      for (int f = 0; f < kFrees; ++f) butterfly(values[i][f], values[i + distance][f]);
    }
    for (int distance = kTerms; distance < order; distance *= 2) {
      const int mask = distance / kTerms * step;
      const bool high = (thread_index() & mask) != 0;
      HOT_UNROLL
      for (int t = 0; t < kTerms; ++t) {
        float other[kFrees];
        shuffle_xor(values[t], mask, other);
        HOT_UNROLL
        for (int f = 0; f < kFrees; ++f)
          values[t][f] = high ? other[f] - values[t][f] : values[t][f] + other[f];
      }
    }
  }
};

}  // namespace hot::kernels::HOT_SIDE
