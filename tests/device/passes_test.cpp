// Every pass of the GPU's backward on the device that this program is linked with (the simulator,
// or a GPU), against the CPU's portable operations, to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "kernels/common/formats.hpp"
#include "kernels/common/fp8.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/quantize.hpp"
#include "kernels/fp8_formats.hpp"
#include "tests/device/fp8_number.hpp"
#include "tests/device/memory.hpp"
#include "tests/kernels/matrices.hpp"

namespace hot::kernels {
namespace {

struct Size {
  std::int64_t rows, cols;
};
constexpr Size kSizes[] = {{0, 0},    {0, 5},    {5, 0},     {1, 1},    {1, 49},
                           {15, 16},  {16, 15},  {17, 31},   {33, 197}, {49, 33},
                           {197, 49}, {31, 520}, {132, 264}, {16, 64}};

/// How an operand lies in memory.
enum class Lie { plain, transposed, spread, offset };

/// A matrix in device memory and the same numbers as float32 for the CPU.
template <class T>
struct Operand {
  std::vector<T> stored;
  std::vector<float> floats;
  MatrixView view;
  DeviceArray<T> memory;
  DeviceMatrix matrix;

  Operand(Size size, Lie lie, unsigned seed)
      : stored(numbers(size, lie, seed)), memory(std::span<const T>(stored)) {
    for (const T v : stored) floats.push_back(to_float(v));
    const std::int64_t spread = lie == Lie::spread ? 3 : 1;
    const std::int64_t shift = lie == Lie::offset ? 1 : 0;
    view = {floats.data() + shift, size.rows, size.cols, size.cols * spread, spread};
    if (lie == Lie::transposed) {
      view.row_stride = 1;
      view.col_stride = size.rows;
    }
    matrix = {memory.data() + shift, element(),      size.rows, size.cols,
              view.row_stride,       view.col_stride};
  }

 private:
  static std::vector<T> numbers(Size size, Lie lie, unsigned seed) {
    const std::int64_t count = size.rows * size.cols * (lie == Lie::spread ? 3 : 1) + 1;
    std::vector<T> stored;
    for (const float v : random_floats(count, seed)) stored.push_back(from_float<T>(v));
    return stored;
  }
  static Element element() {
    if constexpr (std::is_same_v<T, float>) return Element::f32;
    if constexpr (std::is_same_v<T, Half>) return Element::f16;
    return Element::bf16;
  }
};

struct Case {
  Along along;
  Transform transform;
  Format format;
  ScaleGroup group;
  Rounding rounding;
  bool packed;
};

Granularity granularity(const Case& c) {
  if (c.group == ScaleGroup::one) return Granularity::tensor;
  return c.along == Along::rows ? Granularity::column : Granularity::row;
}

const Ops& cpu() {
  return select_cpu_ops("portable");
}

/// What the CPU makes of it.
struct Expected {
  std::vector<float> largest, scales;
  std::vector<std::int8_t> levels;  ///< row-major
  std::int64_t rows, cols;
};

Expected on_cpu(const MatrixView& in, const Case& c) {
  Expected e;
  e.rows = c.along == Along::rows ? transformed_length(in.rows, c.transform) : in.rows;
  e.cols = c.along == Along::cols ? transformed_length(in.cols, c.transform) : in.cols;
  e.largest.resize(static_cast<std::size_t>(scale_count(granularity(c), e.rows, e.cols)), 0.0F);
  cpu().transform_abs_max(in, c.along, c.transform, granularity(c), e.largest.data());
  for (const float v : e.largest)
    e.scales.push_back(scale_for(v, static_cast<float>(max_level(c.format))));
  e.levels.resize(static_cast<std::size_t>(e.rows * e.cols));
  cpu().transform_quantize(in, c.along, c.transform, c.format, granularity(c), e.scales.data(),
                           {c.rounding, 99}, {e.levels.data(), e.rows, e.cols, Order::rows, 0});
  return e;
}

/// Levels of a padded, contracted-contiguous buffer as [free][terms], checking that the padding is
/// zero.
std::vector<std::int8_t> unpadded(const std::vector<std::int8_t>& out, const LevelLayout& layout) {
  std::vector<std::int8_t> levels;
  for (std::int64_t f = 0; f < layout.padded_free; ++f)
    for (std::int64_t t = 0; t < layout.pitch * (layout.packed ? 2 : 1); ++t) {
      const std::int8_t byte =
          out[static_cast<std::size_t>(f * layout.pitch + (layout.packed ? t / 2 : t))];
      const int nibble = (t % 2 == 0 ? byte : byte >> 4) & 0xf;
      const int level = layout.packed ? (nibble ^ 8) - 8 : byte;
      if (f < layout.free && t < layout.terms)
        levels.push_back(static_cast<std::int8_t>(level));
      else
        EXPECT_EQ(level, 0) << "padding at " << f << ", " << t;
    }
  return levels;
}

std::vector<std::int8_t> contracted_contiguous(const Expected& e, Along along) {
  if (along == Along::cols) return e.levels;
  std::vector<std::int8_t> levels;
  for (std::int64_t c = 0; c < e.cols; ++c)
    for (std::int64_t r = 0; r < e.rows; ++r)
      levels.push_back(e.levels[static_cast<std::size_t>(r * e.cols + c)]);
  return levels;
}

template <class T>
void check(const Operand<T>& operand, const Case& c) {
  const DevicePasses& passes = test_device().passes;
  const Expected expected = on_cpu(operand.view, c);
  const std::vector<float> zeros(std::max<std::size_t>(expected.largest.size(), 1), 0.0F);
  DeviceArray<float> scales{std::span<const float>(zeros)};
  passes.transform_abs_max(nullptr, operand.matrix, c.along, c.transform, c.group, scales.data());
  std::vector<float> largest = scales.host();
  largest.resize(expected.largest.size());
  ASSERT_EQ(largest, expected.largest);
  passes.make_scales(nullptr, scales.data(), static_cast<std::int64_t>(zeros.size()), c.format);
  const LevelLayout layout =
      level_layout(operand.view.rows, operand.view.cols, c.along, c.transform, c.packed);
  DeviceArray<std::int8_t> out(static_cast<std::size_t>(layout.bytes()));
  passes.transform_quantize(nullptr, operand.matrix, c.along, c.transform, c.format, c.group,
                            scales.data(), {c.rounding, 99}, c.packed, out.data());
  ASSERT_EQ(unpadded(out.host(), layout), contracted_contiguous(expected, c.along));
}

/// All cases of one operand type, or every other one; the order of threads changes between cases.
template <class T>
void check_all(Lie lie, bool half) {
  std::vector<Transform> transforms = test_transforms();
  transforms.push_back(hadamard(1024));
  transforms.push_back(lowrank(32, 5));
  std::size_t turn = 0;
  for (const Size size : kSizes) {
    const Operand<T> operand(size, lie, 3);
    for (const Along along : {Along::rows, Along::cols})
      for (const Transform& transform : transforms)
        for (const auto& [format, group, rounding, packed] :
             {std::tuple{Format::int8, ScaleGroup::one, Rounding::nearest, false},
              {Format::int4, ScaleGroup::each_free, Rounding::stochastic, true},
              {Format::int8, ScaleGroup::each_free, Rounding::stochastic, false},
              {Format::int4, ScaleGroup::one, Rounding::nearest, true}}) {
          ++turn;
          if (half && (turn + turn / 4) % 2 == 0) continue;
          const auto& variants = test_device().variants;
          test_device().set_variant(variants[turn / 3 % variants.size()]);
          SCOPED_TRACE(testing::Message()
                       << size.rows << "x" << size.cols
                       << (along == Along::rows ? " rows " : " cols ")
                       << to_string(Scheme{
                              .transform = transform, .format = format, .rounding = rounding})
                       << (group == ScaleGroup::one ? "" : " each") << (packed ? " packed" : ""));
          check(operand, {along, transform, format, group, rounding, packed});
          if (testing::Test::HasFailure()) return;
        }
  }
}

class PassesTest : public testing::TestWithParam<Lie> {};

TEST_P(PassesTest, Float32GivesTheIntegersOfTheCpu) {
  check_all<float>(GetParam(), false);
}
TEST_P(PassesTest, Float16GivesTheIntegersOfTheCpu) {
  check_all<Half>(GetParam(), true);
}
TEST_P(PassesTest, Bfloat16GivesTheIntegersOfTheCpu) {
  check_all<Bfloat16>(GetParam(), true);
}

std::string lie_name(const testing::TestParamInfo<Lie>& info) {
  constexpr const char* names[] = {"plain", "transposed", "spread", "offset"};
  return names[static_cast<int>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(Lies, PassesTest,
                         testing::Values(Lie::plain, Lie::transposed, Lie::spread, Lie::offset),
                         lie_name);

/// FP8 bytes of a matrix that lies plain, and the numbers that the simulated format has for it.
template <class T>
void check_fp8(Format format, Along along, const Transform& transform, Rounding rounding) {
  const Size size{37, 53};
  const Operand<T> operand(size, Lie::plain, 3);
  const FloatFormat& numbers = *find_float_format(format);
  const std::int64_t rows =
      along == Along::rows ? transformed_length(size.rows, transform) : size.rows;
  const std::int64_t cols =
      along == Along::cols ? transformed_length(size.cols, transform) : size.cols;
  std::vector<float> values(static_cast<std::size_t>(rows * cols));
  cpu().transform(operand.view, along, transform, values.data());
  float largest = 0;
  for (const float v : values) largest = larger_magnitude(largest, v);
  const float scale = numbers.group_scale(largest);

  const DevicePasses& passes = test_device().passes;
  const std::vector<float> zero(1, 0.0F);
  DeviceArray<float> scales{std::span<const float>(zero)};
  passes.transform_abs_max(nullptr, operand.matrix, along, transform, ScaleGroup::one,
                           scales.data());
  passes.make_scales(nullptr, scales.data(), 1, format);
  ASSERT_EQ(scales.host()[0], scale);
  const LevelLayout layout = level_layout(size.rows, size.cols, along, transform, false);
  DeviceArray<std::int8_t> out(static_cast<std::size_t>(layout.bytes()));
  passes.transform_quantize(nullptr, operand.matrix, along, transform, format, ScaleGroup::one,
                            scales.data(), {rounding, 99}, false, out.data());
  const std::vector<std::int8_t> bytes = unpadded(out.host(), layout);
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const float v = values[static_cast<std::size_t>(i)];
    const float t = std::abs(v) / scale;
    const Neighbours n = numbers.around(t);
    float expected = nearest(n, std::min(t, n.high));
    if (rounding == Rounding::stochastic && n.low != n.high) {
      const PhiloxWords words =
          rounding_words(99, static_cast<std::uint64_t>(i / kElementsPerGroup));
      expected = stochastic(
          n, t, uniform_of(rounding_bits(words, static_cast<int>(i % kElementsPerGroup))));
    }
    const std::int64_t free = along == Along::rows ? i % cols : i / cols;
    const std::int64_t term = along == Along::rows ? i / cols : i % cols;
    const auto byte =
        static_cast<std::uint8_t>(bytes[static_cast<std::size_t>(free * layout.terms + term)]);
    ASSERT_EQ(fp8_number(byte, format), std::copysign(expected, v)) << i;
  }
}

TEST(PassTest, Fp8BytesAreTheNumbersOfTheSimulatedFormat) {
  for (const Format format : {Format::fp8e4m3, Format::fp8e5m2})
    for (const Along along : {Along::rows, Along::cols})
      for (const Transform& transform : {Transform{}, hadamard(16), hadamard(64), lowrank(16, 8)})
        for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic}) {
          SCOPED_TRACE(to_string(Scheme{.transform = transform, .format = format}));
          check_fp8<float>(format, along, transform, rounding);
          check_fp8<Half>(format, along, transform, rounding);
          check_fp8<Bfloat16>(format, along, transform, rounding);
        }
}

TEST(Fp8Code, EveryNumberHasItsByteAndWhatLiesBeyondIsCut) {
  for (const Format format : {Format::fp8e4m3, Format::fp8e5m2}) {
    const Minifloat f = minifloat_of(format);
    for (int byte = 0; byte < 256; ++byte) {
      const float number = fp8_number(static_cast<std::uint8_t>(byte), format);
      if (!std::isfinite(number)) continue;
      EXPECT_EQ(fp8_code(f, number, 1, false, 0), static_cast<std::uint32_t>(byte));
      EXPECT_EQ(fp8_code(f, number, 1, true, 0), static_cast<std::uint32_t>(byte));
    }
    EXPECT_EQ(
        fp8_number(static_cast<std::uint8_t>(fp8_code(f, -2 * f.largest, 1, false, 0)), format),
        -f.largest);
    EXPECT_TRUE(std::isnan(
        fp8_number(static_cast<std::uint8_t>(fp8_code(f, std::nanf(""), 1, false, 0)), format)));
  }
}

TEST(PassTest, NanIsTheLargestOfItsGroup) {
  std::vector<float> numbers = random_floats(33 * 52, 8);
  numbers[20 * 52 + 40] = std::numeric_limits<float>::quiet_NaN();
  DeviceArray<float> memory{std::span<const float>(numbers)};
  const std::vector<float> zeros(33, 0.0F);
  DeviceArray<float> largest{std::span<const float>(zeros)};
  test_device().passes.transform_abs_max(nullptr, {memory.data(), Element::f32, 33, 52, 52, 1},
                                         Along::cols, hadamard(16), ScaleGroup::each_free,
                                         largest.data());
  const std::vector<float> by_row = largest.host();
  for (std::size_t r = 0; r < by_row.size(); ++r) EXPECT_EQ(std::isnan(by_row[r]), r == 20) << r;
}

template <class T>
void check_dequantize(Element element, Size size, std::int64_t pitch, bool each) {
  std::vector<std::int32_t> sums;
  for (std::int64_t i = 0; i < size.rows * pitch; ++i)
    sums.push_back(static_cast<std::int32_t>(i * 2654435761U >> (i % 13 + 2)) - (1 << 20));
  const std::vector<float> rows = random_floats(each ? size.rows : 1, 4);
  const std::vector<float> cols = random_floats(each ? size.cols : 1, 5);
  std::vector<std::int32_t> dense;
  for (std::int64_t r = 0; r < size.rows; ++r)
    for (std::int64_t c = 0; c < size.cols; ++c)
      dense.push_back(sums[static_cast<std::size_t>(r * pitch + c)]);
  std::vector<float> expected(dense.size());
  cpu().dequantize(dense.data(), size.cols, size.rows, size.cols, 0.0625F, rows.data(),
                   static_cast<std::int64_t>(rows.size()), cols.data(),
                   static_cast<std::int64_t>(cols.size()), expected.data(), size.cols);
  DeviceArray<std::int32_t> in{std::span<const std::int32_t>(sums)};
  DeviceArray<float> row_scales{std::span<const float>(rows)};
  DeviceArray<float> col_scales{std::span<const float>(cols)};
  DeviceArray<T> out(dense.size());
  test_device().passes.dequantize(nullptr, in.data(), pitch, size.rows, size.cols, 0.0625F,
                                  row_scales.data(), static_cast<std::int64_t>(rows.size()),
                                  col_scales.data(), static_cast<std::int64_t>(cols.size()),
                                  element, out.data(), size.cols);
  const std::vector<T> ours = out.host();
  for (std::size_t i = 0; i < ours.size(); ++i)
    ASSERT_EQ(to_float(ours[i]), to_float(from_float<T>(expected[i]))) << i;
}

TEST(PassTest, ProductsAreThoseOfTheCpu) {
  for (const Size size : {Size{1, 1}, {15, 16}, {17, 31}, {33, 64}, {0, 7}, {49, 200}})
    for (const bool each : {false, true})
      for (const std::int64_t pitch : {size.cols, (size.cols + 15) / 16 * 16}) {
        SCOPED_TRACE(testing::Message() << size.rows << "x" << size.cols << " pitch " << pitch);
        check_dequantize<float>(Element::f32, size, pitch, each);
        check_dequantize<Half>(Element::f16, size, pitch, each);
        check_dequantize<Bfloat16>(Element::bf16, size, pitch, each);
      }
}

// Every byte, and so every pair of levels.
TEST(PassTest, UnpackGivesBackBothLevels) {
  std::vector<std::int8_t> bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<std::int8_t>(i));
  DeviceArray<std::int8_t> in{std::span<const std::int8_t>(bytes)};
  DeviceArray<std::int8_t> out(512);
  test_device().passes.unpack(nullptr, in.data(), 256, out.data());
  const std::vector<std::int8_t> levels = out.host();
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(levels[static_cast<std::size_t>(2 * i)], ((i & 0xf) ^ 8) - 8);
    EXPECT_EQ(levels[static_cast<std::size_t>(2 * i + 1)], ((i >> 4) ^ 8) - 8);
  }
}

}  // namespace
}  // namespace hot::kernels
