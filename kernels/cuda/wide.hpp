#pragma once

#include "kernels/common/hadamard.hpp"
#include "kernels/cuda/fragment.hpp"
#include "kernels/cuda/levels.hpp"

// The same passes for what a warp can't hold or read in vectors: blocks of more than 32 terms, and
// operands with no contiguous dimension. A thread block transforms a few vectors in shared memory.

namespace hot::kernels::HOT_SIDE {

template <class T>
struct Wide {
  static constexpr int kFrees = 4;

  /// At least two blocks, so that packed levels never share a byte with another tile.
  static HOT_HOST_DEVICE int tile_terms(int order) { return order > 64 ? 2 * order : 128; }
  static HOT_HOST_DEVICE int tile_levels(const PassParams& p) {
    return tile_terms(p.order) / p.order * p.kept;
  }

  /// The tile's transformed values, [kFrees × tile_terms] in shared memory.
  static HOT_DEVICE void read(const PassParams& p, Tile tile, float* values) {
    const int terms = tile_terms(p.order);
    const T* data = static_cast<const T*>(p.data);
    for (int i = thread_index(); i < terms * kFrees; i += kPassThreads) {
      const std::int64_t term = tile.term * terms + i % terms;
      const std::int64_t free = tile.free * kFrees + i / terms;
      const bool there = term < p.terms && free < p.free;
      values[i] = there ? to_float(load(data + term * p.term_stride + free * p.free_stride)) : 0.0F;
    }
    for (int distance = 1; distance < p.order; distance *= 2) {
      block_sync();
      for (int i = thread_index(); i < terms * kFrees / 2; i += kPassThreads) {
        const int low = i / distance * 2 * distance + i % distance;
        butterfly(values[low], values[low + distance]);
      }
    }
    block_sync();
  }
};

template <class T>
struct WideAbsMax {
  using Params = PassParams;
  using W = Wide<T>;
  static constexpr int kThreads = kPassThreads;
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params& p) {
    return sizeof(float) * static_cast<std::size_t>(W::tile_terms(p.order) + 1) * W::kFrees;
  }

  static HOT_DEVICE void run(const Params& p, char* shared) {
    const Tile tile = tile_of(p);
    auto* groups = reinterpret_cast<std::int32_t*>(shared);
    auto* values = reinterpret_cast<float*>(shared) + W::kFrees;
    if (thread_index() < W::kFrees) groups[thread_index()] = 0;
    W::read(p, tile, values);
    const int terms = W::tile_terms(p.order);
    for (int i = thread_index(); i < terms * W::kFrees; i += kPassThreads)
      if (kept_term(p, tile.term * terms + i % terms) >= 0)
        shared_max(groups + i / terms, magnitude_bits(values[i]));
    block_sync();
    const std::int64_t free = tile.free * W::kFrees + thread_index();
    if (thread_index() < W::kFrees && free < p.free)
      atomic_max(reinterpret_cast<std::int32_t*>(p.largest) + (p.each_free ? free : 0),
                 groups[thread_index()]);
  }
};

template <class T, class Code>
struct WideQuantize {
  using Params = PassParams;
  using W = Wide<T>;
  static constexpr int kThreads = kPassThreads;
  static HOT_HOST_DEVICE int pitch(const Params& p) { return (W::tile_levels(p) + 15) / 16 * 16; }
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params& p) {
    return (sizeof(float) * static_cast<std::size_t>(W::tile_terms(p.order)) +
            static_cast<std::size_t>(pitch(p))) *
           W::kFrees;
  }

  static HOT_DEVICE void run(const Params& p, char* shared) {
    const Tile tile = tile_of(p);
    auto* values = reinterpret_cast<float*>(shared);
    W::read(p, tile, values);
    const int terms = W::tile_terms(p.order);
    char* levels = shared + sizeof(float) * static_cast<std::size_t>(terms * W::kFrees);
    for (int i = thread_index(); i < pitch(p) * W::kFrees; i += kPassThreads) levels[i] = 0;
    block_sync();
    for (int i = thread_index(); i < terms * W::kFrees; i += kPassThreads) {
      const std::int64_t free = tile.free * W::kFrees + i / terms;
      const std::int64_t kept = kept_term(p, tile.term * terms + i % terms);
      if (kept < 0 || free >= p.free) continue;
      const std::uint32_t bits =
          p.stochastic ? random_bits(p.seed, kept * p.index_term + free * p.index_free) : 0;
      const float scale = load(p.scales + (p.each_free ? free : 0));
      levels[i / terms * pitch(p) + static_cast<int>(kept - tile.term * W::tile_levels(p))] =
          static_cast<char>(Code::of(p, values[i], scale, bits));
    }
    block_sync();
    write_tile(p, levels, pitch(p), W::tile_levels(p), W::kFrees, tile,
               [](int free) { return free; });
  }
};

}  // namespace hot::kernels::HOT_SIDE
