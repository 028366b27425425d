// Levels in the orders that GEMMs read: every backend, against the definition in levels.hpp.
#include "kernels/levels.hpp"

#include <gtest/gtest.h>

#include "kernels/common/formats.hpp"
#include "kernels/ops.hpp"
#include "tests/kernels/matrices.hpp"

namespace hot::kernels {
namespace {

using Bytes = std::vector<std::int8_t>;

/// Marks bytes that nothing has written.
constexpr std::int8_t kUntouched = -128;

Bytes room(const LevelsOut& out) {
  const std::int64_t size =
      out.order == Order::packed ? packed_bytes(out.rows, out.cols) : out.rows * out.cols;
  return Bytes(static_cast<std::size_t>(size), kUntouched);
}

/// The definition, element by element.
Bytes reference(const Bytes& by_rows, const LevelsOut& out) {
  Bytes result(room(out).size(), 0);
  for (std::int64_t r = 0; r < out.rows; ++r)
    for (std::int64_t c = 0; c < out.cols; ++c) {
      std::int64_t place = r * out.cols + c;
      if (out.order == Order::columns) place = c * out.rows + r;
      if (out.order == Order::packed) {
        const std::int64_t tall = (out.rows + 3) / 4 * 4;
        const std::int64_t wide =
            std::min<std::int64_t>(64, (out.cols + 15) / 16 * 16 - c / 64 * 64);
        place = c / 64 * 64 * tall + r / 4 * 4 * wide + c % 64 * 4 + r % 4;
      }
      result[static_cast<std::size_t>(place)] = by_rows[static_cast<std::size_t>(r * out.cols + c)];
    }
  return result;
}

class LevelsTest : public testing::TestWithParam<const Ops*> {
 protected:
  const Ops& ops() const { return *GetParam(); }
};

constexpr std::pair<std::int64_t, std::int64_t> kSizes[] = {
    {1, 1}, {3, 65}, {15, 16}, {17, 31}, {31, 130}, {33, 197}, {64, 64}, {130, 49}, {197, 300}};

TEST_P(LevelsTest, ArrangeFollowsTheDefinitionInAnyParts) {
  for (const auto& [rows, cols] : kSizes)
    for (const Order order : {Order::rows, Order::columns, Order::packed})
      for (const std::int64_t part : {rows, std::int64_t{4}, std::int64_t{68}}) {
        Bytes by_rows(static_cast<std::size_t>(rows * cols));
        for (std::size_t i = 0; i < by_rows.size(); ++i)
          by_rows[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 255) - 127);
        LevelsOut out{nullptr, rows, cols, order, 0};
        Bytes ours = room(out);
        out.data = ours.data();
        for (std::int64_t first = 0; first < rows; first += part) {
          out.first_row = first;
          ops().arrange(by_rows.data() + first * cols, std::min(part, rows - first), out);
        }
        ASSERT_EQ(ours, reference(by_rows, out)) << rows << "x" << cols << " in parts of " << part;
      }
}

// Where levels go changes none of them, stochastic ones included.
TEST_P(LevelsTest, QuantizedLevelsAreTheSameInEveryOrder) {
  for (const auto& [rows, cols] : kSizes)
    for (const auto& [transposed, spread] : {std::pair{false, 0}, {true, 0}, {false, 2}})
      for (const Along along : {Along::rows, Along::cols})
        for (const Transform& transform : test_transforms())
          for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
            for (const Granularity granularity :
                 {Granularity::tensor, Granularity::row, Granularity::column}) {
              const TestMatrix matrix(rows, cols, 3, transposed, spread);
              LevelsOut out{nullptr, rows, cols, Order::rows, 0};
              (along == Along::rows ? out.rows : out.cols) =
                  transformed_length(along == Along::rows ? rows : cols, transform);
              std::vector<float> scales;
              for (std::int64_t i = 0; i < scale_count(granularity, out.rows, out.cols); ++i)
                scales.push_back(0.03F * static_cast<float>(1 + i % 7));
              const auto quantize = [&](Order order) {
                out.order = order;
                Bytes levels = room(out);
                out.data = levels.data();
                ops().transform_quantize(matrix.view, along, transform, Format::int8, granularity,
                                         scales.data(), {rounding, 5}, out);
                return levels;
              };
              const Bytes by_rows = quantize(Order::rows);
              for (const Order order : {Order::columns, Order::packed}) {
                const Bytes ours = quantize(order);
                ASSERT_EQ(ours, reference(by_rows, out))
                    << rows << "x" << cols << (along == Along::rows ? " rows " : " cols ")
                    << to_string(Scheme{.transform = transform});
              }
            }
}

INSTANTIATE_TEST_SUITE_P(Backends, LevelsTest, testing::ValuesIn(available_cpu_ops()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hot::kernels
