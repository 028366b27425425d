#pragma once

#include "kernels/common/host_device.hpp"

namespace hot::kernels {

/// log2 of a power of two.
HOT_HOST_DEVICE constexpr int log2_of(int order) {
  int bits = 0;
  while ((1 << bits) < order) ++bits;
  return bits;
}

/// Entry (row, col) of the Sylvester matrix of any order: +1 or −1 by the parity of the common
/// bits.
HOT_HOST_DEVICE constexpr int hadamard_sign(int row, int col) {
  int common = row & col;
  int parity = 0;
  for (; common != 0; common &= common - 1) parity ^= 1;
  return parity == 0 ? 1 : -1;
}

/// The one step that every transform consists of. All backends run the stages with distance 1, 2, 4
/// … n/2 and put the sum at the lower index: the same additions in the same order, so that the
/// floats agree bit for bit.
HOT_HOST_DEVICE constexpr void butterfly(float& low, float& high) {
  const float sum = low + high;
  const float difference = low - high;
  low = sum;
  high = difference;
}

/// `values` times H_n (±1, no 1/n) in place; what one device thread does with a block held in
/// registers.
template <int n>
HOT_HOST_DEVICE constexpr void hadamard_in_place(float (&values)[n]) {
  static_assert(n > 0 && (n & (n - 1)) == 0, "the order of a Sylvester matrix is a power of two");
  for (int distance = 1; distance < n; distance *= 2)
    for (int block = 0; block < n; block += 2 * distance)
      for (int i = block; i < block + distance; ++i) butterfly(values[i], values[i + distance]);
}

HOT_HOST_DEVICE constexpr int reversed_bits(int value, int bits) {
  int reversed = 0;
  for (int i = 0; i < bits; ++i) reversed |= ((value >> i) & 1) << (bits - 1 - i);
  return reversed;
}

/// The row of H_order with `sequency` sign changes: the bit-reversed Gray code of the sequency.
HOT_HOST_DEVICE constexpr int row_of_sequency(int sequency, int order) {
  return reversed_bits(sequency ^ (sequency >> 1), log2_of(order));
}

/// Number of sign changes along `row` of H_order.
HOT_HOST_DEVICE constexpr int sequency_of_row(int row, int order) {
  int gray = reversed_bits(row, log2_of(order));
  int sequency = 0;
  for (; gray != 0; gray >>= 1) sequency ^= gray;
  return sequency;
}

}  // namespace hot::kernels
