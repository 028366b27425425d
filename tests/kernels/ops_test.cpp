// Every backend that this machine can run, against plain definitions: transforms in float64,
// integers to the bit.
#include "kernels/ops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "core/errors.hpp"
#include "kernels/common/basis.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/common/hadamard.hpp"
#include "kernels/common/philox.hpp"
#include "kernels/common/quantize.hpp"
#include "tests/kernels/matrices.hpp"

namespace hot::kernels {
namespace {

using Matrix = std::vector<float>;

std::int64_t out_rows(const MatrixView& in, Along along, const Transform& transform) {
  return along == Along::rows ? transformed_length(in.rows, transform) : in.rows;
}
std::int64_t out_cols(const MatrixView& in, Along along, const Transform& transform) {
  return along == Along::cols ? transformed_length(in.cols, transform) : in.cols;
}

Matrix transform_by(const Ops& ops, const MatrixView& in, Along along, const Transform& transform) {
  Matrix out(
      static_cast<std::size_t>(out_rows(in, along, transform) * out_cols(in, along, transform)));
  ops.transform(in, along, transform, out.data());
  return out;
}

/// The definition, in float64: each kept row of H_n times each zero-padded block.
std::vector<double> reference_transform(const TestMatrix& in, Along along,
                                        const Transform& transform) {
  const std::vector<int> kept = kept_rows(transform);
  const auto rank = static_cast<std::int64_t>(kept.size());
  std::vector<double> out;
  for (std::int64_t r = 0; r < out_rows(in.view, along, transform); ++r)
    for (std::int64_t c = 0; c < out_cols(in.view, along, transform); ++c) {
      const std::int64_t moved = along == Along::rows ? r : c;
      const std::int64_t length = along == Along::rows ? in.view.rows : in.view.cols;
      double sum = 0;
      for (int i = 0; i < transform.order; ++i) {
        const std::int64_t source = moved / rank * transform.order + i;
        if (source >= length) continue;
        const float value = along == Along::rows ? in.at(source, c) : in.at(r, source);
        sum += hadamard_sign(kept[static_cast<std::size_t>(moved % rank)], i) *
               static_cast<double>(value);
      }
      out.push_back(sum);
    }
  return out;
}

/// Integers by the definition: quotient, levels, rounding, one element after the other.
std::vector<std::int8_t> reference_levels(const Matrix& values, std::int64_t cols, Format format,
                                          Granularity granularity, const Matrix& scales,
                                          Rounding rounding, std::uint64_t seed) {
  const auto level = static_cast<float>(max_level(format));
  std::vector<std::int8_t> levels;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(values.size()); ++i) {
    const std::int64_t group = granularity == Granularity::row      ? i / cols
                               : granularity == Granularity::column ? i % cols
                                                                    : 0;
    const float t = values[static_cast<std::size_t>(i)] / scales[static_cast<std::size_t>(group)];
    const float inside = std::fmax(-level, std::fmin(level, t));
    const PhiloxWords words = rounding_words(seed, static_cast<std::uint64_t>(i / 8));
    const std::uint32_t bits = words.word[i % 8 / 2] >> (i % 2 == 0 ? 0 : 16) & 0xffffU;
    const double uniform = (static_cast<double>(bits) + 0.5) / 65536;
    const double up = std::floor(inside) + (uniform < inside - std::floor(inside) ? 1 : 0);
    levels.push_back(
        static_cast<std::int8_t>(rounding == Rounding::nearest ? std::nearbyint(inside) : up));
  }
  return levels;
}

struct Size {
  std::int64_t rows, cols;
};
constexpr Size kSizes[] = {{0, 0},   {0, 5},    {5, 0},   {1, 1},    {1, 49},   {15, 16}, {16, 15},
                           {17, 31}, {33, 197}, {49, 33}, {197, 49}, {3, 4200}, {130, 7}};

/// Cuts `in` into parts of whole blocks of rows and calls work(part, first output row).
template <class Work>
void cut(const MatrixView& in, Along along, const Transform& transform, std::int64_t blocks,
         const Work& work) {
  const std::int64_t unit = along == Along::rows ? transform.order : 1;
  const std::int64_t kept = along == Along::rows ? transform.rank : 1;
  for (std::int64_t first = 0; first * unit < in.rows; first += blocks) {
    MatrixView part = in;
    part.data += first * unit * in.row_stride;
    part.rows = std::min(in.rows - first * unit, blocks * unit);
    work(part, first * kept);
  }
}

class OpsTest : public testing::TestWithParam<const Ops*> {
 protected:
  const Ops& ops() const { return *GetParam(); }

  /// Calls body(matrix, along, transform) for all sizes, strides, directions and transforms.
  template <class Body>
  void for_all(const Body& body) const {
    for (const Size size : kSizes)
      for (const auto& [transposed, spread] : {std::pair{false, 0}, {true, 0}, {false, 2}}) {
        const TestMatrix matrix(size.rows, size.cols, 3, transposed, spread);
        for (const Along along : {Along::rows, Along::cols})
          for (const Transform& transform : test_transforms()) {
            SCOPED_TRACE(testing::Message()
                         << size.rows << "x" << size.cols << (transposed ? " transposed" : "")
                         << " spread " << spread << (along == Along::rows ? " rows " : " cols ")
                         << to_string(Scheme{.transform = transform}));
            body(matrix, along, transform);
            if (testing::Test::HasFailure()) return;
          }
      }
  }
};

// Float32 additions of a block of n err by at most log2(n) roundings of the sum of magnitudes.
TEST_P(OpsTest, TransformIsTheMatrixProduct) {
  for_all([&](const TestMatrix& matrix, Along along, const Transform& transform) {
    const Matrix ours = transform_by(ops(), matrix.view, along, transform);
    const std::vector<double> expected = reference_transform(matrix, along, transform);
    ASSERT_EQ(ours.size(), expected.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      ASSERT_NEAR(ours[i], expected[i], 5 * transform.order * 7 * 0x1p-24) << i;
  });
}

// The order of additions is fixed, so backends agree to the bit; a difference would change
// integers.
TEST_P(OpsTest, TransformHasTheBitsOfThePortableOne) {
  for_all([&](const TestMatrix& matrix, Along along, const Transform& transform) {
    ASSERT_EQ(transform_by(ops(), matrix.view, along, transform),
              transform_by(select_cpu_ops("portable"), matrix.view, along, transform));
  });
}

TEST_P(OpsTest, AbsMaxIsThatOfTheStoredTransform) {
  for_all([&](const TestMatrix& matrix, Along along, const Transform& transform) {
    const Matrix values = transform_by(ops(), matrix.view, along, transform);
    const std::int64_t rows = out_rows(matrix.view, along, transform);
    const std::int64_t cols = out_cols(matrix.view, along, transform);
    for (const Granularity granularity :
         {Granularity::tensor, Granularity::row, Granularity::column}) {
      Matrix expected(static_cast<std::size_t>(scale_count(granularity, rows, cols)), 0.0F);
      for (std::int64_t i = 0; i < rows * cols; ++i) {
        const std::int64_t group = granularity == Granularity::row      ? i / cols
                                   : granularity == Granularity::column ? i % cols
                                                                        : 0;
        float& largest = expected[static_cast<std::size_t>(group)];
        largest = std::max(largest, std::abs(values[static_cast<std::size_t>(i)]));
      }
      Matrix ours(expected.size(), 0.0F);
      ops().transform_abs_max(matrix.view, along, transform, granularity, ours.data());
      ASSERT_EQ(ours, expected);
    }
  });
}

TEST_P(OpsTest, IntegersAreThoseOfThePlainDefinition) {
  for_all([&](const TestMatrix& matrix, Along along, const Transform& transform) {
    const Matrix values = transform_by(ops(), matrix.view, along, transform);
    const std::int64_t rows = out_rows(matrix.view, along, transform);
    const std::int64_t cols = out_cols(matrix.view, along, transform);
    for (const auto& [format, granularity, rounding] :
         {std::tuple{Format::int8, Granularity::tensor, Rounding::nearest},
          {Format::int4, Granularity::row, Rounding::nearest},
          {Format::int8, Granularity::column, Rounding::nearest},
          {Format::int4, Granularity::tensor, Rounding::stochastic},
          {Format::int8, Granularity::row, Rounding::stochastic},
          {Format::int4, Granularity::column, Rounding::stochastic}}) {
      Matrix scales(static_cast<std::size_t>(scale_count(granularity, rows, cols)), 0.0F);
      ops().transform_abs_max(matrix.view, along, transform, granularity, scales.data());
      for (float& scale : scales) scale = scale_for(scale, static_cast<float>(max_level(format)));
      std::vector<std::int8_t> ours(values.size());
      const std::int64_t all_rows = cols == 0 ? 0 : static_cast<std::int64_t>(values.size()) / cols;
      ops().transform_quantize(matrix.view, along, transform, format, granularity, scales.data(),
                               {rounding, 99}, {ours.data(), all_rows, cols, Order::rows, 0});
      ASSERT_EQ(ours, reference_levels(values, cols, format, granularity, scales, rounding, 99));
    }
  });
}

// A matrix worked on in parts, however it is cut, gives what it gives whole.
TEST_P(OpsTest, PartsGiveTheWhole) {
  const TestMatrix matrix(197, 49, 5);
  for (const Along along : {Along::rows, Along::cols})
    for (const Transform& transform : test_transforms()) {
      const Matrix whole = transform_by(ops(), matrix.view, along, transform);
      const std::int64_t cols = out_cols(matrix.view, along, transform);
      const Matrix scales(static_cast<std::size_t>(cols), 0.37F);
      const RoundingRule rule{Rounding::stochastic, 11};
      const std::int64_t rows = out_rows(matrix.view, along, transform);
      std::vector<std::int8_t> levels(whole.size());
      ops().transform_quantize(matrix.view, along, transform, Format::int8, Granularity::column,
                               scales.data(), rule, {levels.data(), rows, cols, Order::rows, 0});
      for (const std::int64_t blocks : {1, 3, 5}) {
        Matrix floats(whole.size());
        std::vector<std::int8_t> integers(whole.size());
        cut(matrix.view, along, transform, blocks, [&](const MatrixView& part, std::int64_t row) {
          ops().transform(part, along, transform, floats.data() + row * cols);
          ops().transform_quantize(part, along, transform, Format::int8, Granularity::column,
                                   scales.data(), rule,
                                   {integers.data(), rows, cols, Order::rows, row});
        });
        EXPECT_EQ(floats, whole);
        EXPECT_EQ(integers, levels);
      }
    }
}

TEST_P(OpsTest, AbsMaxKeepsNan) {
  for (const Along along : {Along::rows, Along::cols}) {
    TestMatrix matrix(33, 49, 8);
    matrix.data[20 * 49 + 40] = std::numeric_limits<float>::quiet_NaN();
    float largest = 0;
    ops().transform_abs_max(matrix.view, along, hadamard(16), Granularity::tensor, &largest);
    EXPECT_TRUE(std::isnan(largest));
    Matrix by_row(33, 0.0F);
    ops().transform_abs_max(matrix.view, Along::cols, hadamard(16), Granularity::row,
                            by_row.data());
    for (std::size_t r = 0; r < by_row.size(); ++r) EXPECT_EQ(std::isnan(by_row[r]), r == 20) << r;
  }
}

TEST_P(OpsTest, TransposeMovesEveryElement) {
  for (const Size size : kSizes) {
    const TestMatrix in(size.rows, size.cols, 7, false, 0);
    Matrix out(static_cast<std::size_t>((size.rows + 3) * size.cols), -1.0F);
    ops().transpose(in.data.data(), size.cols, size.rows, size.cols, out.data(), size.rows + 3);
    for (std::int64_t c = 0; c < size.cols; ++c)
      for (std::int64_t r = 0; r < size.rows + 3; ++r)
        ASSERT_EQ(out[static_cast<std::size_t>(c * (size.rows + 3) + r)],
                  r < size.rows ? in.at(r, c) : -1.0F);
  }
}

// Every pair of levels, and every length of the rest.
TEST_P(OpsTest, Int4LevelsGoTwoToAByteAndBack) {
  std::vector<std::int8_t> levels;
  for (int high = -7; high <= 7; ++high)
    for (int low = -7; low <= 7; ++low) {
      levels.push_back(static_cast<std::int8_t>(low));
      levels.push_back(static_cast<std::int8_t>(high));
    }
  for (std::size_t count = 0; count <= levels.size(); count += count < 140 ? 1 : 31) {
    std::vector<std::uint8_t> packed((count + 1) / 2 + 1, 0xa5);
    ops().pack_int4(levels.data(), static_cast<std::int64_t>(count), packed.data());
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(packed[i / 2] >> (i % 2 * 4) & 15, levels[i] & 15) << i << " of " << count;
    ASSERT_EQ(packed.back(), 0xa5);
    std::vector<std::int8_t> again(count + 1, 99);
    ops().unpack_int4(packed.data(), static_cast<std::int64_t>(count), again.data());
    ASSERT_TRUE(std::equal(again.begin(), again.end() - 1, levels.begin())) << count;
    ASSERT_EQ(again.back(), 99);
  }
}

TEST_P(OpsTest, DequantizeAppliesBothScalesAndTheFactor) {
  const std::vector<std::int32_t> sums = {1, -2, 3, 4, 5, -6};
  const Matrix rows = {2, 10};
  const Matrix cols = {1, 4, 16};
  Matrix out(6);
  ops().dequantize(sums.data(), 3, 2, 3, 0.5F, rows.data(), 2, cols.data(), 3, out.data(), 3);
  EXPECT_THAT(out, testing::ElementsAre(1, -8, 48, 20, 100, -480));
  ops().dequantize(sums.data(), 3, 2, 3, 0.5F, rows.data(), 1, cols.data(), 1, out.data(), 3);
  EXPECT_THAT(out, testing::ElementsAre(1, -2, 3, 4, 5, -6));
  Matrix in_place(sums.begin(), sums.end());
  ops().dequantize_in_place(in_place.data(), 2, 3, 0.5F, rows.data(), 2, cols.data(), 1);
  EXPECT_THAT(in_place, testing::ElementsAre(1, -2, 3, 20, 25, -30));
}

// Rows longer than a register, with and without a rest; the result may take the integers' memory.
TEST_P(OpsTest, DequantizeHasTheBitsOfTheDefinitionAlsoInItsOwnMemory) {
  for (const std::int64_t cols : {0, 1, 15, 16, 17, 49, 197})
    for (const bool by_row : {false, true})
      for (const bool by_col : {false, true}) {
        constexpr std::int64_t kRows = 3;
        std::vector<std::int32_t> sums;
        Matrix row_scales;
        Matrix col_scales;
        for (std::int64_t r = 0; r < kRows; ++r) row_scales.push_back(0.1F * (r + 1.0F));
        for (std::int64_t c = 0; c < std::max<std::int64_t>(cols, 1); ++c)
          col_scales.push_back(0.03F * (c + 1.0F));
        for (std::int64_t i = 0; i < kRows * cols; ++i)
          sums.push_back(static_cast<std::int32_t>(i * 123457 - 1000003));
        Matrix expected;
        for (std::int64_t i = 0; i < kRows * cols; ++i) {
          const auto row = static_cast<std::size_t>(by_row ? i / cols : 0);
          const auto col = static_cast<std::size_t>(by_col ? i % cols : 0);
          expected.push_back(static_cast<float>(sums[static_cast<std::size_t>(i)]) *
                             ((0.0625F * row_scales[row]) * col_scales[col]));
        }
        Matrix out(expected.size());
        const auto run = [&](float* to) {
          ops().dequantize(sums.data(), cols, kRows, cols, 0.0625F, row_scales.data(),
                           by_row ? kRows : 1, col_scales.data(), by_col ? cols : 1, to, cols);
        };
        run(out.data());
        ASSERT_EQ(out, expected);
        Matrix added(expected.size(), 0.3F);
        ops().add_dequantized(sums.data(), cols, kRows, cols, 0.0625F, row_scales.data(),
                              by_row ? kRows : 1, col_scales.data(), by_col ? cols : 1,
                              added.data(), cols);
        for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(added[i], 0.3F + expected[i]);
        run(reinterpret_cast<float*>(sums.data()));
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_EQ(std::bit_cast<float>(sums[i]), expected[i]) << i;
      }
}

INSTANTIATE_TEST_SUITE_P(Backends, OpsTest, testing::ValuesIn(available_cpu_ops()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(CpuOps, PortableIsAlwaysThereAndTheFastestIsTheDefault) {
  EXPECT_STREQ(available_cpu_ops().front()->name, "portable");
  EXPECT_EQ(&select_cpu_ops(""), available_cpu_ops().back());
  for (const Ops* ops : available_cpu_ops()) EXPECT_EQ(&select_cpu_ops(ops->name), ops);
}

TEST(CpuOps, AnUnknownBackendIsRefusedNamingThoseThatExist) {
  try {
    (void)select_cpu_ops("avx1024");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("HOT_CPU=avx1024"));
    EXPECT_THAT(error.what(), testing::HasSubstr("portable"));
  }
}

TEST(TransformedLength, PadsToWholeBlocksAndKeepsTheRank) {
  EXPECT_EQ(transformed_length(197, Transform{}), 197);
  EXPECT_EQ(transformed_length(197, hadamard(16)), 208);
  EXPECT_EQ(transformed_length(197, lowrank(16, 8)), 104);
  EXPECT_EQ(transformed_length(0, hadamard(16)), 0);
  EXPECT_EQ(transformed_length(1, lowrank(16, 10)), 10);
  EXPECT_THROW((void)transformed_length(5, hadamard(0)), std::logic_error);
}

}  // namespace
}  // namespace hot::kernels
