#pragma once

#include "kernels/cuda/fragment.hpp"
#include "kernels/cuda/levels.hpp"

namespace hot::kernels::HOT_SIDE {

/// Raises every value to the largest of all lanes of the warp.
template <int n>
HOT_DEVICE void raise_in_warp(float (&best)[n]) {
  for (int mask = 1; mask < kWarp; mask *= 2) {
    float other[n];
    shuffle_xor(best, mask, other);
    HOT_UNROLL
    for (int i = 0; i < n; ++i) best[i] = larger_magnitude(best[i], other[i]);
  }
}

/// Transform and abs-max in one read: the largest magnitudes of the transformed values, of all or
/// of each free vector. `largest` starts as zeros or earlier magnitudes.
template <class T, bool across>
struct TransformAbsMax {
  using Params = PassParams;
  using F = Fragment<T, across>;
  static constexpr int kThreads = kPassThreads;
  /// Across, a thread holds a whole block of floats: two blocks of threads would spill some.
  static constexpr int kResidentBlocks = across ? 1 : 2;
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params&) {
    return sizeof(std::int32_t) * 256;
  }

  static HOT_DEVICE void run(const Params& p, char* shared) {
    auto* groups = reinterpret_cast<std::int32_t*>(shared);
    groups[thread_index()] = 0;
    const Tile tile = tile_of(p);
    F fragment;
    fragment.read(p, tile);
    float best[F::kFrees];
    HOT_UNROLL
    for (int f = 0; f < F::kFrees; ++f) best[f] = 0.0F;
    HOT_UNROLL
    for (int t = 0; t < F::kTerms; ++t)
      if (kept_term(p, fragment.term0 + t) >= 0) {
        HOT_UNROLL
        for (int f = 0; f < F::kFrees; ++f)
          best[f] = larger_magnitude(best[f], fragment.values[t][f]);
      }
    block_sync();
    if (p.each_free)
      raise_each(p, fragment, best, groups, tile);
    else
      raise_one(p, best, groups);
  }

 private:
  static HOT_DEVICE void raise_one(const Params& p, const float (&best)[F::kFrees],
                                   std::int32_t* groups) {
    float one[1] = {best[0]};
    HOT_UNROLL
    for (int f = 1; f < F::kFrees; ++f) one[0] = larger_magnitude(one[0], best[f]);
    raise_in_warp(one);
    if (thread_index() % kWarp == 0) shared_max(groups, magnitude_bits(one[0]));
    block_sync();
    if (thread_index() == 0) atomic_max(reinterpret_cast<std::int32_t*>(p.largest), groups[0]);
  }

  static HOT_DEVICE void raise_each(const Params& p, const F& fragment, float (&best)[F::kFrees],
                                    std::int32_t* groups, Tile tile) {
    if constexpr (!across) raise_in_warp(best);
    if (across || thread_index() % kWarp == 0) {
      HOT_UNROLL
      for (int f = 0; f < F::kFrees; ++f)
        shared_max(groups + fragment.free + f, magnitude_bits(best[f]));
    }
    block_sync();
    const int frees = F::S::tile_frees(p.order);
    const std::int64_t free = tile.free * frees + thread_index();
    if (thread_index() < frees && free < p.free)
      atomic_max(reinterpret_cast<std::int32_t*>(p.largest) + free, groups[thread_index()]);
  }
};

}  // namespace hot::kernels::HOT_SIDE
