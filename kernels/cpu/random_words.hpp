// Philox4x32-10 for a row of groups at once. Part of loops.hpp; internal linkage.
#pragma once

#include "kernels/cpu/vectors.hpp"

namespace hot::kernels {
namespace {

#if HOT_VECTOR_FLOATS > 4

/// One 32-bit number in the lower half of each lane; what is in the upper half doesn't matter.
using Wide [[gnu::vector_size(4 * kLanes)]] = std::uint64_t;
constexpr int kWide = kLanes / 2;

/// The 64-bit products of the lower halves.
inline Wide products(const Wide& a, const Wide& b) {
#if HOT_VECTOR_FLOATS == 16
  return reinterpret_cast<Wide>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#else
  return reinterpret_cast<Wide>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#endif
}

inline Wide xor_of(const Wide& a, const Wide& b, const Wide& c) {
#if HOT_VECTOR_FLOATS == 16
  return reinterpret_cast<Wide>(_mm512_ternarylogic_epi64(reinterpret_cast<__m512i>(a),
                                                          reinterpret_cast<__m512i>(b),
                                                          reinterpret_cast<__m512i>(c), 0x96));
#else
  return a ^ b ^ c;
#endif
}

template <std::size_t... lane>
inline void store_bits(const Wide (&c)[4], std::uint16_t* bits, std::index_sequence<lane...>) {
  const Wide first = (c[0] & 0xffffffffU) | (c[1] << 32);
  const Wide second = (c[2] & 0xffffffffU) | (c[3] << 32);
  constexpr auto source = [](std::size_t i) {
    return static_cast<int>(i / 2 + (i % 2 == 0 ? 0 : kWide));
  };
  const Wide low = __builtin_shufflevector(first, second, source(lane)...);
  const Wide high = __builtin_shufflevector(first, second, (source(lane) + kWide / 2)...);
  std::memcpy(bits, &low, sizeof(low));
  std::memcpy(bits + 2 * kLanes, &high, sizeof(high));
}

/// 0, 1, 2 …
template <std::size_t... lane>
inline Wide counted(std::index_sequence<lane...>) {
  return Wide{lane...};
}

/// Chains of rounds that run side by side, since each waits for its own products.
constexpr int kChains = 3;

/// rounding_words() of kChains · kWide groups from `group` on, the same rounds in the same order.
inline void bits_of_groups(std::uint64_t seed, std::uint64_t group, std::uint16_t* bits) {
  const Wide m0 = Wide{} + 0xD2511F53U;
  const Wide m1 = Wide{} + 0xCD9E8D57U;
  Wide c[kChains][4];
  for (int chain = 0; chain < kChains; ++chain) {
    const Wide counter = counted(std::make_index_sequence<kWide>()) +
                         (group + static_cast<std::uint64_t>(chain * kWide));
    c[chain][0] = counter;
    c[chain][1] = counter >> 32;
    c[chain][2] = c[chain][3] = Wide{};
  }
  auto k0 = static_cast<std::uint32_t>(seed);
  auto k1 = static_cast<std::uint32_t>(seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 4
    for (Wide(&x)[4] : c) {
      const Wide product0 = products(x[0], m0);
      const Wide product1 = products(x[2], m1);
      x[0] = xor_of(product1 >> 32, x[1], Wide{} + k0);
      x[2] = xor_of(product0 >> 32, x[3], Wide{} + k1);
      x[1] = product1;
      x[3] = product0;
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (int chain = 0; chain < kChains; ++chain)
    store_bits(c[chain], bits + kElementsPerGroup * chain * kWide,
               std::make_index_sequence<kWide>());
}

#endif

#if HOT_VECTOR_FLOATS > 4
constexpr std::int64_t kGroupsAtOnce = kChains * kWide;
#else
constexpr std::int64_t kGroupsAtOnce = 1;
inline void bits_of_groups(std::uint64_t seed, std::uint64_t group, std::uint16_t* bits) {
  const PhiloxWords words = rounding_words(seed, group);
  for (int lane = 0; lane < kElementsPerGroup; ++lane)
    bits[lane] = static_cast<std::uint16_t>(rounding_bits(words, lane));
}
#endif

/// Numbers that fill_bits() may write for `count` elements, whichever comes first in its group.
constexpr std::int64_t bits_room(std::int64_t count) {
  return count + (kGroupsAtOnce + 1) * kElementsPerGroup;
}

/// The random bits of the groups of elements from `first_group` on, sixteen an element, at least
/// `groups` of them.
void fill_bits(std::uint64_t seed, std::uint64_t first_group, std::int64_t groups,
               std::uint16_t* __restrict bits) {
  for (std::int64_t i = 0; i < groups; i += kGroupsAtOnce)
    bits_of_groups(seed, first_group + static_cast<std::uint64_t>(i), bits + kElementsPerGroup * i);
}

}  // namespace
}  // namespace hot::kernels
