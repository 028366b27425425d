#include "kernels/backward.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/common/basis.hpp"
#include "kernels/common/hadamard.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

/// Schemes that are legal on both paths.
std::vector<Scheme> common_schemes(const std::vector<Transform>& transforms = test_transforms()) {
  std::vector<Scheme> schemes;
  for (const Transform& transform : transforms)
    for (const Format format : {Format::none, Format::int8, Format::int4})
      for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
        if (format != Format::none || rounding == Rounding::nearest)
          schemes.push_back(
              {transform, format, Granularity::tensor, Granularity::tensor, rounding});
  return schemes;
}

/// Contracted over the stored dimension `along`, in float64, from the values that the operands
/// stand for.
at::Tensor reference_product(const Operand& a, const Operand& b) {
  const at::Tensor left = dequantized(a).to(at::kDouble);
  const at::Tensor right = dequantized(b).to(at::kDouble);
  return at::mm(a.along == Along::cols ? left : left.t(),
                b.along == Along::rows ? right : right.t()) /
         a.transform.order;
}

constexpr std::int64_t kLengths[] = {0, 1, 15, 16, 17, 31, 33, 49, 197};

// The integer product is exact; only the scaling rounds, three times in float32.
TEST(Backward, ProductsAreThoseOfTheirOperands) {
  for (const std::int64_t rows : {0, 1, 17, 49})
    for (const std::int64_t contracted : kLengths)
      for (const Scheme& scheme : common_schemes()) {
        const at::Tensor gy = random_tensor(rows, contracted, 1);
        const at::Tensor w = random_tensor(contracted, 11, 2);
        const Operand a = prepare(gy, Along::cols, scheme.transform, scheme.format,
                                  Granularity::tensor, scheme.rounding, 5);
        const Operand b = prepare(w, Along::rows, scheme.transform, scheme.format,
                                  Granularity::tensor, Rounding::nearest, 0);
        const double bound = scheme.format == Format::none ? 2e-6 : 4e-7;
        ASSERT_LE(relative_difference(grad_input(gy, w, scheme, 5), reference_product(a, b)), bound)
            << rows << " " << contracted << " " << to_string(scheme);
        const Operand c = prepare(gy.t(), Along::rows, scheme.transform, scheme.format,
                                  Granularity::tensor, scheme.rounding, 5);
        ASSERT_LE(relative_difference(grad_weight(gy.t(), w, scheme, 5), reference_product(c, b)),
                  bound)
            << rows << " " << contracted << " " << to_string(scheme);
      }
}

TEST(Backward, ScalesStandWhereTheirRowsAndColumnsAre) {
  const at::Tensor gy = random_tensor(33, 49, 1);
  const at::Tensor w = random_tensor(49, 21, 2);
  const at::Tensor x = random_tensor(33, 21, 3);
  for (const Granularity other : {Granularity::tensor, Granularity::column}) {
    const Scheme input{hadamard(16), Format::int8, Granularity::row, other, Rounding::nearest};
    EXPECT_LE(relative_difference(
                  grad_input(gy, w, input, 0),
                  reference_product(prepare(gy, Along::cols, input.transform, input.format,
                                            Granularity::row, Rounding::nearest, 0),
                                    prepare(w, Along::rows, input.transform, input.format, other,
                                            Rounding::nearest, 0))),
              4e-7);
    const Scheme weight{hadamard(16), Format::int8, Granularity::column, other, Rounding::nearest};
    EXPECT_LE(relative_difference(
                  grad_weight(gy, x, weight, 0),
                  reference_product(prepare(gy, Along::rows, weight.transform, weight.format,
                                            Granularity::column, Rounding::nearest, 0),
                                    prepare_x(x, weight))),
              4e-7);
  }
}

// methods.md, section 2: an orthogonal transform of both operands leaves the product as it is.
TEST(Backward, FullTransformsAreExactByThemselves) {
  const at::Tensor gy = random_tensor(49, 33, 1);
  const at::Tensor w = random_tensor(33, 17, 2);
  const at::Tensor exact = at::mm(gy.to(at::kDouble), w.to(at::kDouble));
  for (const Transform& transform : test_transforms()) {
    if (transform.rank < transform.order) continue;
    EXPECT_LE(relative_difference(grad_input(gy, w, {.transform = transform}, 0), exact), 2e-6);
  }
}

// A signal that is constant within each block lies in the kept row of sequency 0: rank 1 loses
// nothing.
TEST(Backward, RankOneKeepsWhatIsConstantInABlock) {
  const at::Tensor gy = random_tensor(3, 9, 1).repeat_interleave(16, 0);
  const at::Tensor x = random_tensor(48, 7, 2);
  EXPECT_LE(relative_difference(grad_weight(gy, x, {.transform = lowrank(16, 1)}, 0),
                                at::mm(gy.t().to(at::kDouble), x.to(at::kDouble))),
            2e-6);
}

// A hand-made case: gy and W are themselves levels, so nothing is rounded.
TEST(Backward, IntegersPassThroughUnchanged) {
  const at::Tensor gy = at::tensor({127.0F, -3.0F, 5.0F, 0.0F}).reshape({2, 2});
  const at::Tensor w = at::tensor({127.0F, 1.0F, -2.0F, 100.0F}).reshape({2, 2});
  const Scheme scheme{Transform{}, Format::int8};
  EXPECT_TRUE(at::equal(grad_input(gy, w, scheme, 0),
                        at::tensor({16135.0F, -173.0F, 635.0F, 5.0F}).reshape({2, 2})));
}

TEST(Backward, PreparedXGivesTheSameWeightGradient) {
  const at::Tensor gy = random_tensor(197, 33, 1);
  const at::Tensor x = random_tensor(197, 21, 2);
  for (const Scheme& scheme : common_schemes())
    EXPECT_TRUE(
        at::equal(grad_weight(gy, prepare_x(x, scheme), scheme, 3), grad_weight(gy, x, scheme, 3)));
}

// Integer products are exact sums, so that threads and strides change no bit of them.
TEST(Backward, IntegerSchemesGiveTheSameBitsForAnyThreadsAndStrides) {
  const at::Tensor gy = random_tensor(789, 130, 1);
  const at::Tensor w = random_tensor(130, 317, 2);
  const at::Tensor x = random_tensor(789, 317, 3);
  for (const Scheme& scheme :
       common_schemes({Transform{}, hadamard(16), lowrank(16, 10, Basis::lp_l1)})) {
    if (scheme.format == Format::none) continue;
    const auto gradients = [&](const at::Tensor& left, const at::Tensor& a, const at::Tensor& b) {
      return std::pair{grad_input(left, a, scheme, 9), grad_weight(left, b, scheme, 9)};
    };
    const auto one = with_threads(1, [&] { return gradients(gy, w, x); });
    for (const int threads : {2, 4}) {
      const auto many = with_threads(threads, [&] { return gradients(gy, w, x); });
      EXPECT_TRUE(at::equal(many.first, one.first) && at::equal(many.second, one.second));
    }
    const auto strided = gradients(other_strides(gy)[0], other_strides(w)[1], other_strides(x)[0]);
    EXPECT_TRUE(at::equal(strided.first, one.first) && at::equal(strided.second, one.second));
  }
}

// Each seed is one draw; their mean approaches the product of the unrounded gy (W is exact here) as
// 1/√N.
TEST(Backward, StochasticRoundingOfGyIsUnbiased) {
  constexpr int kDraws = 200;
  const at::Tensor gy = random_tensor(17, 16, 1);
  const at::Tensor w = at::eye(16);  // levels 0 and 127: no rounding
  const Scheme scheme{Transform{}, Format::int4, Granularity::tensor, Granularity::tensor,
                      Rounding::stochastic};
  at::Tensor sum = at::zeros({17, 16}, at::kDouble);
  for (int seed = 0; seed < kDraws; ++seed)
    sum += grad_input(gy, w, scheme, static_cast<std::uint64_t>(seed));
  const double step = gy.abs().max().item<double>() / 7;
  const double deviation = 0.5 * step / std::sqrt(kDraws);  // √(f(1−f)) is at most a half
  const at::Tensor bias = sum / kDraws - gy.to(at::kDouble);
  EXPECT_LE(bias.abs().max().item<double>(), 5 * deviation);
  EXPECT_LE(std::abs(bias.mean().item<double>()), 5 * deviation / std::sqrt(17 * 16));
  EXPECT_FALSE(at::equal(grad_input(gy, w, scheme, 1), grad_input(gy, w, scheme, 2)));
}

TEST(Backward, ANonFiniteGradientStaysVisible) {
  at::Tensor gy = random_tensor(33, 17, 1);
  gy[20][3] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor w = random_tensor(17, 5, 2);
  const Scheme tensor{hadamard(16), Format::int8};
  EXPECT_TRUE(grad_input(gy, w, tensor, 0).isnan().all().item<bool>());
  const Scheme row{hadamard(16), Format::int8, Granularity::row};
  EXPECT_TRUE(at::equal(grad_input(gy, w, row, 0).isnan().all(1), at::arange(33) == 20));
}

TEST(Backward, IllegalCombinationsAreBugs) {
  const at::Tensor gy = random_tensor(32, 16, 1);
  const at::Tensor w = random_tensor(16, 8, 2);
  const at::Tensor x = random_tensor(32, 8, 3);
  const auto scheme = [](Granularity gy_granularity, Granularity other) {
    return Scheme{hadamard(16), Format::int8, gy_granularity, other, Rounding::nearest};
  };
  using G = Granularity;
  EXPECT_THROW((void)grad_input(gy, w, scheme(G::column, G::tensor), 0), std::logic_error);
  EXPECT_THROW((void)grad_input(gy, w, scheme(G::tensor, G::row), 0), std::logic_error);
  EXPECT_THROW((void)grad_weight(gy, x, scheme(G::row, G::tensor), 0), std::logic_error);
  EXPECT_THROW((void)grad_weight(gy, x, scheme(G::tensor, G::row), 0), std::logic_error);
  EXPECT_THROW((void)grad_input(gy, x, scheme(G::tensor, G::tensor), 0), std::logic_error);

  const auto operand = [&](const Transform& transform, Format format) {
    return prepare(x, Along::rows, transform, format, G::tensor, Rounding::nearest, 0);
  };
  const Operand a = operand(hadamard(16), Format::int8);
  EXPECT_THROW((void)multiply(a, operand(hadamard(8), Format::int8)), std::logic_error);
  for (const Format format : {Format::int4, Format::none})  // as floats
    EXPECT_NO_THROW((void)multiply(a, operand(hadamard(16), format)));
  EXPECT_NO_THROW((void)multiply(a, a));
}

}  // namespace
}  // namespace hot::kernels
