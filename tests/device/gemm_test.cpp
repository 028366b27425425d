// Integer products on a GPU, by the libraries, against plain sums.
#include "kernels/cuda/gemm.hpp"

#include <gtest/gtest.h>

#include "tests/device/memory.hpp"

namespace hot::kernels {
namespace {

/// Levels of any of -most … most, in the layout of transform_quantize.
struct Levels {
  LevelLayout layout;
  std::vector<int> level;  ///< [free][terms]
  std::vector<std::int8_t> bytes;

  Levels(std::int64_t free, std::int64_t terms, bool packed, unsigned seed) {
    layout = level_layout(free, terms, Along::cols, Transform{}, packed);
    const unsigned most = packed ? 7 : 127;
    bytes.resize(static_cast<std::size_t>(layout.bytes()));
    for (std::int64_t f = 0; f < free; ++f)
      for (std::int64_t t = 0; t < terms; ++t) {
        seed = seed * 1664525U + 1013904223U;
        level.push_back(static_cast<int>((seed >> 8) % (2 * most + 1)) - static_cast<int>(most));
        auto& byte = bytes[static_cast<std::size_t>(f * layout.pitch + (packed ? t / 2 : t))];
        byte = static_cast<std::int8_t>(packed ? byte | (level.back() & 0xf) << (t % 2 == 0 ? 0 : 4)
                                               : level.back());
      }
  }
};

void check(std::int64_t rows, std::int64_t cols, std::int64_t terms, bool packed) {
  const Levels a(rows, terms, packed, 1);
  const Levels b(cols, terms, packed, 2);
  DeviceArray<std::int8_t> left{std::span<const std::int8_t>(a.bytes)};
  DeviceArray<std::int8_t> right{std::span<const std::int8_t>(b.bytes)};
  const std::int64_t pitch = b.layout.padded_free;
  DeviceArray<std::int32_t> out(static_cast<std::size_t>(a.layout.padded_free * pitch));
  const IntegerGemm gemm;
  DeviceArray<char> workspace(gemm.workspace_bytes(a.layout, b.layout));
  gemm.multiply(nullptr, left.data(), a.layout, right.data(), b.layout, out.data(),
                workspace.data());
  const std::vector<std::int32_t> sums = out.host();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      std::int32_t expected = 0;
      for (std::int64_t t = 0; t < terms; ++t)
        expected += a.level[static_cast<std::size_t>(r * terms + t)] *
                    b.level[static_cast<std::size_t>(c * terms + t)];
      ASSERT_EQ(sums[static_cast<std::size_t>(r * pitch + c)], expected) << r << ", " << c;
    }
}

TEST(GemmTest, SumsAreExactForOddSizes) {
  for (const bool packed : {false, true})
    for (const auto& [rows, cols, terms] :
         {std::tuple{1, 1, 1}, {15, 17, 31}, {33, 49, 197}, {128, 256, 512}, {197, 64, 96}}) {
      SCOPED_TRACE(testing::Message()
                   << rows << "x" << cols << "x" << terms << (packed ? " int4" : " int8"));
      check(rows, cols, terms, packed);
    }
}

}  // namespace
}  // namespace hot::kernels
