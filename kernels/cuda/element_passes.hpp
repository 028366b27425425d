#pragma once

#include "kernels/cuda/fragment.hpp"
#include "kernels/cuda/levels.hpp"

// Passes without a transform: scales from magnitudes, products from integer sums, levels from
// packed ones.

namespace hot::kernels::HOT_SIDE {

HOT_DEVICE std::int64_t thread_of_grid() {
  return block_index() * kPassThreads + thread_index();
}

struct MakeScales {
  using Params = ScalesParams;
  static constexpr int kThreads = kPassThreads;
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params&) { return 0; }

  static HOT_DEVICE void run(const Params& p, char*) {
    const std::int64_t i = thread_of_grid();
    if (i < p.count) store(p.values + i, scale_for(load(p.values + i), p.level));
  }
};

/// in · ((factor · row scale) · column scale), in this order, rounded to T once at the end.
template <class T>
struct Dequantize {
  using Params = DequantizeParams;
  static constexpr int kThreads = kPassThreads;
  static constexpr int kValues = kVector<T>;
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params&) { return 0; }

  static HOT_DEVICE void run(const Params& p, char*) {
    const std::int64_t chunks = (p.cols + kValues - 1) / kValues;
    const std::int64_t row = thread_of_grid() / chunks;
    const std::int64_t col = thread_of_grid() % chunks * kValues;
    if (row >= p.rows) return;
    const float row_scale = p.factor * load(p.row.values + (p.row.each ? row : 0));
    const std::int32_t* from = p.in + row * p.in_pitch + col;
    T* to = static_cast<T*>(p.out) + row * p.out_pitch + col;
    const auto value = [&](int i, std::int32_t sum) {
      const float scale = row_scale * load(p.col.values + (p.col.each ? col + i : 0));
      return from_float<T>(static_cast<float>(sum) * scale);
    };
    if (!p.vectors || col + kValues > p.cols) {
      HOT_UNROLL
      for (int i = 0; i < kValues; ++i)
        if (col + i < p.cols) store(to + i, value(i, load(from + i)));
      return;
    }
    T values[kValues];
    HOT_UNROLL
    for (int v = 0; v < kValues / 4; ++v) {
      const Bytes16 sums = load(reinterpret_cast<const Bytes16*>(from) + v);
      HOT_UNROLL
      for (int i = 0; i < 4; ++i)
        values[4 * v + i] = value(4 * v + i, static_cast<std::int32_t>(sums.word[i]));
    }
    store(reinterpret_cast<Bytes16*>(to), joined(values));
  }

 private:
  static HOT_DEVICE Bytes16 joined(const float (&values)[4]) {
    Bytes16 bytes{};
    HOT_UNROLL
    for (int i = 0; i < 4; ++i) bytes.word[i] = std::bit_cast<std::uint32_t>(values[i]);
    return bytes;
  }
  template <class Short>
  static HOT_DEVICE Bytes16 joined(const Short (&values)[8]) {
    Bytes16 bytes{};
    HOT_UNROLL
    for (int i = 0; i < 4; ++i)
      bytes.word[i] = values[2 * i].bits | static_cast<std::uint32_t>(values[2 * i + 1].bits) << 16;
    return bytes;
  }
};

/// INT4 storage as bytes, for GPUs whose tensor cores have no INT4: 8 bytes in, 16 out.
struct Unpack {
  using Params = UnpackParams;
  static constexpr int kThreads = kPassThreads;
  static HOT_HOST_DEVICE std::size_t shared_bytes(const Params&) { return 0; }

  static HOT_DEVICE void run(const Params& p, char*) {
    const std::int64_t at = thread_of_grid() * 8;
    if (at >= p.bytes) return;
    const Bytes8 in = load(reinterpret_cast<const Bytes8*>(p.in + at));
    Bytes16 out{};
    HOT_UNROLL
    for (int i = 0; i < 4; ++i) out.word[i] = spread(in.word[i / 2] >> (i % 2 * 16));
    store(reinterpret_cast<Bytes16*>(p.out + 2 * at), out);
  }

 private:
  /// Four nibbles to four bytes; (n ^ 8) − 8 extends the sign.
  static HOT_DEVICE std::uint32_t spread(std::uint32_t nibbles) {
    std::uint32_t bytes = 0;
    HOT_UNROLL
    for (int i = 0; i < 4; ++i)
      bytes |= (((((nibbles >> (4 * i)) & 0xfU) ^ 8U) - 8U) & 0xffU) << (8 * i);
    return bytes;
  }
};

}  // namespace hot::kernels::HOT_SIDE
