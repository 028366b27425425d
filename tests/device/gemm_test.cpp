// Integer products on a GPU, by the libraries, against plain sums.
#include "kernels/cuda/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cuda/fp8_gemm.hpp"
#include "tests/device/fp8_number.hpp"
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

void check_fp8(Format left_format, Format right_format, bool scaled) {
  const std::int64_t rows = 33;
  const std::int64_t cols = 49;
  const std::int64_t terms = 197;
  const auto numbers = [&](std::int64_t free, unsigned seed) {
    Levels levels(free, terms, false, seed);
    for (auto& byte : levels.bytes) byte = static_cast<std::int8_t>(byte & 0xbf);  // no NaN
    return levels;
  };
  const Levels a = numbers(rows, 1);
  const Levels b = numbers(cols, 2);
  DeviceArray<std::int8_t> left{std::span<const std::int8_t>(a.bytes)};
  DeviceArray<std::int8_t> right{std::span<const std::int8_t>(b.bytes)};
  const std::vector<float> scales{0.5F, 4.0F};
  DeviceArray<float> scale{std::span<const float>(scales)};
  const std::int64_t pitch = b.layout.padded_free;
  DeviceArray<float> out(static_cast<std::size_t>(a.layout.padded_free * pitch));
  DeviceArray<char> workspace(kLibraryBytes);
  const Fp8Gemm gemm;
  gemm.multiply(nullptr, {left.data(), a.layout, left_format, scaled ? scale.data() : nullptr},
                {right.data(), b.layout, right_format, scaled ? scale.data() + 1 : nullptr}, 0.25F,
                out.data(), workspace.data());
  const std::vector<float> sums = out.host();
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c) {
      double expected = 0;
      double magnitudes = 0;
      for (std::int64_t t = 0; t < terms; ++t) {
        const auto at = [t](const Levels& l, std::int64_t free) {
          return static_cast<std::uint8_t>(
              l.bytes[static_cast<std::size_t>(free * l.layout.pitch + t)]);
        };
        const double term = static_cast<double>(fp8_number(at(a, r), left_format)) *
                            fp8_number(at(b, c), right_format);
        expected += term;
        magnitudes += std::abs(term);
      }
      const double factor = 0.25 * (scaled ? 2 : 1);
      ASSERT_NEAR(sums[static_cast<std::size_t>(r * pitch + c)], factor * expected,
                  1e-3 * factor * magnitudes)
          << r << ", " << c;
    }
}

TEST(GemmTest, Fp8SumsAreThoseOfTheNumbers) {
  try {
    const Fp8Gemm gemm;
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  for (const bool scaled : {true, false}) {
    check_fp8(Format::fp8e4m3, Format::fp8e4m3, scaled);
    check_fp8(Format::fp8e5m2, Format::fp8e4m3, scaled);
    check_fp8(Format::fp8e4m3, Format::fp8e5m2, scaled);
  }
}

}  // namespace
}  // namespace hot::kernels
