#pragma once

#include <cstdint>

#include "kernels/common/host_device.hpp"

namespace hot::kernels {

/// Four words of Philox4x32-10.
struct PhiloxWords {
  std::uint32_t word[4];
};

/// Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw: "Parallel random numbers: as easy as
/// 1, 2, 3", SC 2011): a bijection of the 128-bit counter {c0, c1, c2, c3}, keyed by 64 bits {k0,
/// k1}. No state: any element's number can be had by itself, which makes results independent of
/// thread count and backend.
HOT_HOST_DEVICE constexpr PhiloxWords philox4x32(std::uint32_t c0, std::uint32_t c1,
                                                 std::uint32_t c2, std::uint32_t c3,
                                                 std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * c2;
    const auto high0 = static_cast<std::uint32_t>(product0 >> 32);
    const auto high1 = static_cast<std::uint32_t>(product1 >> 32);
    c0 = high1 ^ c1 ^ k0;
    c2 = high0 ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(product1);
    c3 = static_cast<std::uint32_t>(product0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

/// Elements that share the four words of one counter, sixteen bits each.
constexpr int kElementsPerGroup = 8;

/// The words of elements 8·group … 8·group + 7 of a matrix quantized with `seed`: key = seed (low
/// word first), counter = group (low word first, upper half zero).
HOT_HOST_DEVICE constexpr PhiloxWords rounding_words(std::uint64_t seed, std::uint64_t group) {
  return philox4x32(static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32), 0,
                    0, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

/// The sixteen bits of element `lane` of a group: element index i, counted row by row, is lane i
/// mod 8 of group i div 8 and takes half (i mod 2), the low one first, of word (i mod 8) div 2.
HOT_HOST_DEVICE constexpr std::uint32_t rounding_bits(const PhiloxWords& words, int lane) {
  return words.word[lane / 2] >> (lane % 2 * 16) & 0xffffU;
}

}  // namespace hot::kernels
