#pragma once

#include <type_traits>

#include "kernels/cuda/fragment.hpp"
#include "kernels/cuda/levels.hpp"

namespace hot::kernels::HOT_SIDE {

/// Transform (or projection), quantize and pack in one read and one write. Levels pass through
/// shared memory, so that the contracted dimension of the output is contiguous, which integer GEMMs
/// want of both factors, whatever the operand's layout.
template <class T, bool across, class Code>
struct TransformQuantize {
  using Params = PassParams;
  using F = Fragment<T, across>;
  using S = F::S;
  static constexpr int kThreads = kPassThreads;
  static constexpr int kTerms = F::kTerms, kFrees = F::kFrees;
  /// FP8 rounds in more steps: with a whole block of floats a thread, two blocks would spill.
  static constexpr int kResidentBlocks =
      across && sizeof(T) == 4 && std::is_same_v<Code, Fp8Code> ? 1 : 2;

  /// Bytes from one vector to the next: 16 more than the levels, so that lanes meet other banks.
  static HOT_HOST_DEVICE int pitch(const Params& p) {
    return (S::tile_terms(p.order) / p.order * p.kept + 15) / 16 * 16 + 16;
  }
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params& p) {
    return static_cast<std::size_t>(pitch(p)) * static_cast<std::size_t>(S::tile_frees(p.order));
  }

  static HOT_DEVICE void run(const Params& p, char* shared) {
    const Tile tile = tile_of(p);
    F fragment;
    fragment.read(p, tile);
    if constexpr (across)
      stage_across(p, fragment, shared);
    else
      stage_along(p, fragment, shared);
    block_sync();
    const int lanes = S::tile_frees(p.order) / kVector<T>;
    write_tile(p, shared, pitch(p), S::tile_terms(p.order) / p.order * p.kept,
               S::tile_frees(p.order), tile, [=](int free) { return slot(free, lanes); });
  }

 private:
  /// Lanes that write at the same time write neighbouring vectors.
  static HOT_DEVICE int slot(int free, int lanes) {
    return across ? free % kVector<T> * lanes + free / kVector<T> : free;
  }

  static HOT_DEVICE float scale_at(const Params& p, std::int64_t free) {
    if (!p.each_free) return load(p.scales);
    return free < p.free ? load(p.scales + free) : 1.0F;
  }

  /// Terms of one vector to their places; `levels` holds them four a word.
  static HOT_DEVICE void put(const Params& p, char* vector, int term, std::int64_t term0,
                             const std::uint32_t (&levels)[kTerms / 4]) {
    if (p.full) {
      auto* to = reinterpret_cast<std::uint32_t*>(vector + term);
      HOT_UNROLL
      for (int i = 0; i < kTerms / 4; ++i) to[i] = levels[i];
      return;
    }
    HOT_UNROLL
    for (int t = 0; t < kTerms; ++t) {
      const int inside = static_cast<int>((term0 + t) & (p.order - 1));
      const int position = p.position[inside];
      if (position >= 0)
        vector[(term + t - inside) / p.order * p.kept + position] =
            static_cast<char>(levels[t / 4] >> (t % 4 * 8));
    }
  }

  static HOT_DEVICE std::uint32_t shifted(std::int32_t level, int t) {
    return (static_cast<std::uint32_t>(level) & 0xffU) << (t % 4 * 8);
  }

  /// A thread's elements of one term are neighbours in the free dimension.
  static HOT_DEVICE void stage_across(const Params& p, const F& fragment, char* shared) {
    std::uint32_t levels[kFrees][kTerms / 4]{};
    float scales[kFrees];
    HOT_UNROLL
    for (int f = 0; f < kFrees; ++f) scales[f] = scale_at(p, fragment.free0 + f);
    HOT_UNROLL
    for (int t = 0; t < kTerms; ++t) {
      const std::int64_t kept = kept_term(p, fragment.term0 + t);
      if (kept < 0) continue;
      std::uint32_t bits[kFrees]{};
      if (p.stochastic)
        random_bits_of(
            p.seed, p.index_free == 1,
            [&](int f) { return kept * p.index_term + (fragment.free0 + f) * p.index_free; }, bits);
      HOT_UNROLL
      for (int f = 0; f < kFrees; ++f)
        if (fragment.free0 + f < p.free)
          levels[f][t / 4] |= shifted(Code::of(p, fragment.values[t][f], scales[f], bits[f]), t);
    }
    const int lanes = S::tile_frees(p.order) / kVector<T>;
    HOT_UNROLL
    for (int f = 0; f < kFrees; ++f)
      put(p, shared + slot(fragment.free + f, lanes) * pitch(p), fragment.term, fragment.term0,
          levels[f]);
  }

  /// A thread's elements of one free vector are neighbouring terms.
  static HOT_DEVICE void stage_along(const Params& p, const F& fragment, char* shared) {
    HOT_UNROLL
    for (int f = 0; f < kFrees; ++f) {
      const std::int64_t free = fragment.free0 + f;
      std::uint32_t levels[kTerms / 4]{};
      if (free < p.free) {
        const float scale = scale_at(p, free);
        std::uint32_t bits[kTerms]{};
        if (p.stochastic)
          random_bits_of(
              p.seed, p.full && p.index_term == 1,
              [&](int t) {
                const std::int64_t kept = kept_term(p, fragment.term0 + t);
                return (kept < 0 ? 0 : kept) * p.index_term + free * p.index_free;
              },
              bits);
        HOT_UNROLL
        for (int t = 0; t < kTerms; ++t)
          if (kept_term(p, fragment.term0 + t) >= 0)
            levels[t / 4] |= shifted(Code::of(p, fragment.values[t][f], scale, bits[t]), t);
      }
      put(p, shared + (fragment.free + f) * pitch(p), fragment.term, fragment.term0, levels);
    }
  }
};

}  // namespace hot::kernels::HOT_SIDE
