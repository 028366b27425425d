#pragma once

#include "kernels/common/fp8.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/quantize.hpp"
#include "kernels/cuda/device.hpp"
#include "kernels/cuda/pass_params.hpp"

// Levels of single elements and their random bits, for every reader.

namespace hot::kernels::HOT_SIDE {

/// The random bits of one element, without an index into registers.
HOT_DEVICE std::uint32_t random_bits(std::uint64_t seed, std::int64_t index) {
  const PhiloxWords words =
      rounding_words(seed, static_cast<std::uint64_t>(index) / kElementsPerGroup);
  const int word = static_cast<int>(index % kElementsPerGroup) / 2;
  const std::uint32_t low = word == 0 ? words.word[0] : words.word[1];
  const std::uint32_t high = word == 2 ? words.word[2] : words.word[3];
  return (word < 2 ? low : high) >> (index % 2 * 16) & 0xffffU;
}

/// Random bits of the elements index_of(0) … index_of(n − 1), n = 4 or 8; `run` says that these
/// indices are consecutive. A run that starts at a multiple of n costs one Philox.
template <int n, class IndexOf>
HOT_DEVICE void random_bits_of(std::uint64_t seed, bool run, const IndexOf& index_of,
                               std::uint32_t (&bits)[n]) {
  static_assert(n == 4 || n == kElementsPerGroup);
  const std::int64_t first = index_of(0);
  if (run && first % n == 0) {
    const PhiloxWords words =
        rounding_words(seed, static_cast<std::uint64_t>(first) / kElementsPerGroup);
    const bool upper = first % kElementsPerGroup != 0;
    HOT_UNROLL
    for (int i = 0; i < n; ++i)
      bits[i] = upper ? rounding_bits(words, (i + 4) % 8) : rounding_bits(words, i);
    return;
  }
  HOT_ROLLED
  for (int i = 0; i < n; ++i) {
    const std::uint32_t one = random_bits(seed, index_of(i));
    HOT_UNROLL
    for (int j = 0; j < n; ++j) bits[j] = j == i ? one : bits[j];
  }
}

/// What a quantized element is: an integer level.
struct IntegerCode {
  static HOT_DEVICE std::int32_t of(const PassParams& p, float value, float scale,
                                    std::uint32_t bits) {
    const float t = scaled_to_level(value, scale, p.level);
    return p.stochastic ? round_stochastic(t, bits) : round_nearest(t);
  }
};

/// The byte of an FP8 number; 0 is zero, as for integers.
struct Fp8Code {
  static HOT_DEVICE std::int32_t of(const PassParams& p, float value, float scale,
                                    std::uint32_t bits) {
    return static_cast<std::int32_t>(fp8_code(p.number, value, scale, p.stochastic, bits));
  }
};

/// Index among the kept terms of a source term; −1 for one that is dropped or lies beyond the end.
HOT_DEVICE std::int64_t kept_term(const PassParams& p, std::int64_t term) {
  if (p.full) return term < p.kept_terms ? term : -1;
  const int inside = static_cast<int>(term & (p.order - 1));
  const std::int64_t at = (term - inside) / p.order * p.kept + p.position[inside];
  return p.position[inside] >= 0 && at < p.kept_terms ? at : -1;
}

/// A tile of levels in shared memory, one byte a level, `slots` vectors of `pitch` bytes, to global
/// memory in accesses as wide as `tile_bytes` allows. slot_of(free) finds a vector's place.
template <class SlotOf>
HOT_DEVICE void write_tile(const PassParams& p, const char* levels, int pitch, int tile_levels,
                           int tile_frees, Tile tile, const SlotOf& slot_of) {
  const int tile_bytes = p.packed ? tile_levels / 2 : tile_levels;
  const int width = tile_bytes % 16 == 0 ? 16 : tile_bytes % 4 == 0 ? 4 : 1;
  const int chunks = tile_bytes / width;
  for (int i = thread_index(); i < chunks * tile_frees; i += kPassThreads) {
    const int free = i / chunks;
    const std::int64_t out_free = tile.free * tile_frees + free;
    const std::int64_t inside = static_cast<std::int64_t>(i % chunks) * width;
    const std::int64_t at = tile.term * tile_bytes + inside;
    if (out_free >= p.out_free || at >= p.pitch) continue;
    const char* from = levels + slot_of(free) * pitch + inside * (p.packed ? 2 : 1);
    std::int8_t* to = p.out + out_free * p.pitch + at;
    const auto byte = [&](int b) {
      if (!p.packed) return static_cast<std::uint32_t>(static_cast<std::uint8_t>(from[b]));
      const char* pair = from + std::int64_t{2} * b;
      return static_cast<std::uint32_t>((pair[0] & 0xf) | (pair[1] & 0xf) << 4);
    };
    const auto word = [&](int w) {
      if (!p.packed && width == 16) return reinterpret_cast<const std::uint32_t*>(from)[w];
      return byte(4 * w) | byte(4 * w + 1) << 8 | byte(4 * w + 2) << 16 | byte(4 * w + 3) << 24;
    };
    if (width == 16)
      store(reinterpret_cast<Bytes16*>(to), Bytes16{{word(0), word(1), word(2), word(3)}});
    else if (width == 4)
      store(reinterpret_cast<std::uint32_t*>(to), word(0));
    else
      store(to, static_cast<std::int8_t>(byte(0)));
  }
}

}  // namespace hot::kernels::HOT_SIDE
