#include <gtest/gtest.h>

#include <array>

#include "kernels/backward.hpp"
#include "kernels/stored.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

struct Case {
  Along along;
  Transform transform;
  Format format;
  Granularity granularity;
  Rounding rounding;
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Along along : {Along::rows, Along::cols})
    for (const Transform& transform : test_transforms())
      for (const Format format : {Format::int8, Format::int4})
        for (const Granularity granularity :
             {Granularity::tensor, Granularity::row, Granularity::column})
          for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
            cases.push_back({along, transform, format, granularity, rounding});
  return cases;
}

Operand prepared(const at::Tensor& a, const Case& c) {
  return prepare(a, c.along, c.transform, c.format, c.granularity, c.rounding, 17);
}

void expect_same(const Operand& a, const Operand& b) {
  EXPECT_TRUE(at::equal(a.values, b.values));
  EXPECT_TRUE(at::equal(a.scales, b.scales));
}

// prepare never stores the transformed matrix; what it makes must be what the three steps make.
TEST(Operand, PreparedIsTransformedScaledAndQuantized) {
  for (const auto& [rows, cols] : {std::pair{49, 33}, {197, 16}, {1, 31}}) {
    const at::Tensor a = random_tensor(rows, cols, 1);
    for (const Case& c : all_cases()) {
      const at::Tensor values = transformed(a, c.along, c.transform);
      const at::Tensor scales = scales_of(values, c.format, c.granularity);
      expect_same(prepared(a, c), quantized(values, c.along, c.transform, c.format, c.granularity,
                                            scales, c.rounding, 17));
    }
  }
}

// What is kept of an operand is the operand, in half the bytes of int8 where its levels are INT4.
TEST(Operand, StoredIsRestored) {
  for (const auto& size : {std::pair{0, 5}, {17, 33}, {1031, 300}}) {
    const at::Tensor a = random_tensor(size.first, size.second, 9);
    for (const char* text :
         {"had16+int4/tensor", "low16r8+int8/tensor", "low16r8", "none+int4/tensor"}) {
      const Operand x = prepare_x(a, parse_scheme(text));
      const Stored kept = stored(x);
      EXPECT_EQ(kept.operand.values.nbytes(),
                x.format == Format::int4 ? (x.values.nbytes() + 1) / 2 : x.values.nbytes());
      const Operand again = restored(kept);
      EXPECT_TRUE(at::equal(again.values, x.values)) << text;
      EXPECT_EQ(again.packed.has_value(), x.packed.has_value());
    }
  }
}

// Operands made together, from memory or from pieces, are those made alone, in every order.
TEST(Operand, PreparedTogetherIsPreparedAlone) {
  const at::Tensor a = random_tensor(331, 290, 4);
  const auto fill = [&](std::int64_t begin, std::int64_t end, std::int64_t first,
                        std::int64_t count, float* out) {
    const auto* from = a.const_data_ptr<float>();
    for (std::int64_t row = begin; row < end; ++row, out += count)
      std::copy_n(from + row * 290 + first, count, out);
  };
  const RowSource rows{331, 290, 0, fill};
  const RowSource strips{331, 290, 16, fill};
  std::vector<Recipe> recipes;
  for (const Case& c : all_cases())
    recipes.push_back({c.along, c.transform, c.format, c.granularity, c.rounding, 17});
  for (std::size_t i = 0; i < recipes.size(); ++i)
    recipes[i].order = std::array{Order::rows, Order::columns, Order::packed}[i % 3];
  recipes.push_back({Along::rows, hadamard(16)});
  for (std::size_t first = 0; first < recipes.size(); first += 2) {
    const std::span some =
        std::span(recipes).subspan(first, std::min<std::size_t>(2, recipes.size() - first));
    for (const auto& together :
         {prepare_all(a, some), prepare_all(rows, some), prepare_all(strips, some)})
      for (std::size_t i = 0; i < some.size(); ++i) {
        const Recipe& r = some[i];
        const Operand alone =
            prepare(a, r.along, r.transform, r.format, r.granularity, r.rounding, r.seed);
        EXPECT_TRUE(at::equal(matrix_of(together[i]), alone.values));
        EXPECT_EQ(together[i].scales.defined(), alone.scales.defined());
        if (!alone.scales.defined()) continue;
        EXPECT_TRUE(at::equal(together[i].scales, alone.scales));
      }
  }
}

// Large enough to be cut into parts for several threads.
TEST(Operand, IntegersDoNotDependOnTheNumberOfThreads) {
  const at::Tensor a = random_tensor(400, 300, 2);
  for (const Case& c : all_cases()) {
    const Operand one = with_threads(1, [&] { return prepared(a, c); });
    for (const int threads : {2, 4})
      expect_same(with_threads(threads, [&] { return prepared(a, c); }), one);
  }
}

TEST(Operand, IntegersDoNotDependOnStrides) {
  const at::Tensor a = random_tensor(197, 49, 3);
  for (const at::Tensor& view : other_strides(a))
    for (const Case& c : all_cases()) expect_same(prepared(view, c), prepared(a, c));
}

TEST(Operand, AnExpandedGradientIsReadThroughItsZeroStrides) {
  const at::Tensor one = at::full({1, 1}, 0.25F);
  const Operand o = prepare(one.expand({33, 17}), Along::rows, hadamard(16), Format::int8,
                            Granularity::tensor, Rounding::nearest, 0);
  // A constant block of 16 becomes 16 times the value in its first row and zeros below.
  EXPECT_EQ(o.scales.item<float>(), 4.0F / 127);
  EXPECT_EQ(o.values.select(0, 0).min().item<int>(), 127);
  EXPECT_EQ(o.values.narrow(0, 1, 15).abs().max().item<int>(), 0);
}

// A full transform loses nothing: H·H = n. Dequantized levels lie within half a step (nearest) or a
// step (stochastic).
TEST(Operand, DequantizedIsWithinTheStepOfTheTransform) {
  const at::Tensor a = random_tensor(49, 33, 4);
  for (const Case& c : all_cases()) {
    const Operand o = prepared(a, c);
    const at::Tensor error = (dequantized(o) - transformed(a, c.along, c.transform)).abs();
    const at::Tensor steps = o.granularity == Granularity::row ? o.scales.unsqueeze(1) : o.scales;
    const double most = (error / steps).max().item<double>();
    EXPECT_LE(most, (c.rounding == Rounding::nearest ? 0.5 : 1) + 1e-4);
  }
}

TEST(Operand, WithoutFormatThereIsNoScale) {
  const at::Tensor a = random_tensor(5, 7, 5);
  const Operand o =
      prepare(a, Along::rows, Transform{}, Format::none, Granularity::tensor, Rounding::nearest, 0);
  EXPECT_TRUE(at::equal(o.values, a));
  EXPECT_FALSE(o.scales.defined());
  EXPECT_TRUE(at::equal(dequantized(o), a));
}

TEST(Operand, EmptyAndZeroMatricesHaveAScaleOfOne) {
  for (const at::Tensor& a : {at::zeros({0, 7}), at::zeros({7, 0}), at::zeros({17, 5})})
    for (const Case& c : all_cases()) {
      const Operand o = prepared(a, c);
      EXPECT_TRUE(at::equal(o.scales, at::ones_like(o.scales)));
      EXPECT_TRUE(at::equal(o.values, at::zeros_like(o.values)));
    }
}

TEST(Operand, RecordsNoGradient) {
  const at::Tensor a = random_tensor(16, 16, 6).requires_grad_(true);
  EXPECT_FALSE(transformed(a, Along::rows, hadamard(16)).requires_grad());
}

TEST(Operand, OnlyDense2dFloatTensorsAreTaken) {
  const auto prepare_any = [](const at::Tensor& a) {
    (void)prepare(a, Along::rows, hadamard(16), Format::int8, Granularity::tensor,
                  Rounding::nearest, 0);
  };
  EXPECT_THROW(prepare_any(at::Tensor()), std::logic_error);
  EXPECT_THROW(prepare_any(at::zeros({4})), std::logic_error);
  EXPECT_THROW(prepare_any(at::zeros({4, 4}, at::kDouble)), std::logic_error);
  EXPECT_THROW(prepare_any(at::zeros({4, 4}).to_sparse()), std::logic_error);
  EXPECT_THROW((void)scales_of(at::zeros({4, 4}), Format::none, Granularity::tensor),
               std::logic_error);
  EXPECT_THROW((void)quantized(at::zeros({4, 4}), Along::rows, Transform{}, Format::int8,
                               Granularity::row, at::ones({3}), Rounding::nearest, 0),
               std::logic_error);
}

}  // namespace
}  // namespace hot::kernels
