#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/scheme_parts.hpp"
#include "kernels/formats/minifloat.hpp"
#include "kernels/outliers.hpp"
#include "kernels/rounded.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

/// `values` rounded by the format alone, as its elements with scale 1 are.
at::Tensor elements(Format format, const at::Tensor& values) {
  const FloatFormat* f = find_float_format(format);
  at::Tensor out = at::empty_like(values);
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const float v = values.const_data_ptr<float>()[i];
    const Neighbours n = f->around(std::abs(v));
    out.mutable_data_ptr<float>()[i] = std::copysign(nearest(n, std::min(std::abs(v), n.high)), v);
  }
  return out;
}

/// Numbers over the whole range of a format, halfway points among them.
at::Tensor numbers(float largest, float smallest) {
  std::vector<float> values = {0.0F};
  for (float v = smallest / 8; v < largest; v *= 1.0078125F) values.push_back(v);
  for (float v = smallest / 2; v < largest; v *= 2)
    for (int k = 8; k < 16; ++k)
      for (const float half : {0.0F, 0.5F, 0.25F})
        values.push_back(std::min(largest, v * (static_cast<float>(k) + half) / 8));
  const at::Tensor positive = at::tensor(values, at::kFloat);
  return at::cat({positive, positive.neg()});
}

TEST(Formats, Fp8ElementsAreTorchsCasts) {
  const at::Tensor e4m3 = numbers(448, 0x1p-9F);
  EXPECT_TRUE(
      at::equal(elements(Format::fp8e4m3, e4m3), e4m3.to(at::kFloat8_e4m3fn).to(at::kFloat)));
  EXPECT_TRUE(at::equal(elements(Format::mxfp8, e4m3), e4m3.to(at::kFloat8_e4m3fn).to(at::kFloat)));
  const at::Tensor e5m2 = numbers(57344, 0x1p-16F);
  EXPECT_TRUE(at::equal(elements(Format::fp8e5m2, e5m2), e5m2.to(at::kFloat8_e5m2).to(at::kFloat)));
}

// Every code of the format is a number of its own, and rounds to itself.
TEST(Formats, EveryCodeOfFp8RoundsToItself) {
  for (const auto& [format, type] :
       {std::pair{Format::fp8e4m3, at::kFloat8_e4m3fn}, {Format::fp8e5m2, at::kFloat8_e5m2}}) {
    at::Tensor codes = at::arange(0, 256, at::kInt).to(at::kByte).view(type).to(at::kFloat);
    codes = codes.index({at::isfinite(codes)}).contiguous();
    EXPECT_GT(codes.numel(), 240);
    EXPECT_TRUE(at::equal(elements(format, codes), codes));
  }
}

TEST(Formats, FourBitFloatsHaveTheseNumbers) {
  const at::Tensor table = at::tensor({0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0}, at::kFloat);
  const at::Tensor inputs = at::tensor(
      {0.25, 0.26, 0.75, 0.76, 1.25, 1.26, 1.75, 2.5, 2.51, 3.5, 5.0, 5.01, 9.0}, at::kFloat);
  const at::Tensor halves_to_even =
      at::tensor({0.0, 0.5, 1.0, 1.0, 1.0, 1.5, 2.0, 2.0, 3.0, 4.0, 4.0, 6.0, 6.0}, at::kFloat);
  for (const Format format : {Format::mxfp4, Format::nvfp4}) {
    EXPECT_TRUE(at::equal(elements(format, table), table));
    EXPECT_TRUE(at::equal(elements(format, inputs), halves_to_even)) << elements(format, inputs);
  }
}

TEST(Formats, LuqHasZeroAndSevenPowersOfTwo) {
  std::set<float> seen;
  const at::Tensor t = elements(Format::luq4, at::linspace(0, 64, 5000));
  for (std::int64_t i = 0; i < t.numel(); ++i) seen.insert(t.const_data_ptr<float>()[i]);
  EXPECT_EQ(seen, (std::set<float>{0, 1, 2, 4, 8, 16, 32, 64}));
}

// e8m0: scales are codes of torch's type, the largest power of two that takes the largest magnitude
// into the format's last binade.
TEST(Formats, MxScalesAreCodesOfE8m0) {
  for (const auto& [format, last] : {std::pair{Format::mxfp8, 8}, {Format::mxfp4, 2}}) {
    const FloatFormat* f = find_float_format(format);
    for (float largest = 1e-30F; largest < 1e30F; largest *= 1.7F) {
      const float scale = f->block_scale(largest, 1);
      const at::Tensor one = at::full({1}, scale, at::kFloat);
      EXPECT_EQ(one.to(at::kFloat8_e8m0fnu).to(at::kFloat).item<float>(), scale);
      EXPECT_EQ(std::floor(std::log2(largest / scale)), last) << largest;
    }
  }
}

TEST(Formats, NvScalesAreCodesOfE4m3) {
  const at::Tensor a = random_tensor(7, 48, 3);
  const float shared = group_scale(Format::nvfp4, a.abs().max().item<float>());
  const at::Tensor largest = a.reshape({7, 3, 16}).abs().amax(2).reshape({-1});
  const at::Tensor codes = (largest / 6 / shared).to(at::kFloat8_e4m3fn).to(at::kFloat);
  EXPECT_EQ(codes.max().item<float>(), 448);
  for (std::int64_t i = 0; i < largest.numel(); ++i)
    EXPECT_FLOAT_EQ(find_float_format(Format::nvfp4)->block_scale(largest[i].item<float>(), shared),
                    codes[i].item<float>() * shared);
}

/// Mean over seeds of a matrix rounded stochastically, with the deviation of that mean.
void expect_unbiased(const Recipe& recipe, const at::Tensor& a) {
  const at::Tensor scales = scales_of(a, recipe);
  constexpr int kSeeds = 400;
  at::Tensor sum = at::zeros_like(a, at::kDouble);
  for (int seed = 0; seed < kSeeds; ++seed) {
    Recipe one = recipe;
    one.seed = static_cast<std::uint64_t>(seed);
    sum += dequantized(rounded(a, one, scales)).to(at::kDouble);
  }
  const at::Tensor error = (sum / kSeeds - a.to(at::kDouble));
  const at::Tensor variance = rounding_variance(a, recipe, scales).to(at::kDouble);
  // Σ error² has the mean Σ variance / S: 5 sigma of its spread, as of independent elements.
  const double expected = variance.sum().item<double>() / kSeeds;
  const double spread = expected * std::sqrt(10.0 / static_cast<double>(a.numel()));
  const double found = error.square().sum().item<double>();
  EXPECT_NEAR(found, expected, 5 * spread) << to_string(recipe.format);
  // And the signed mean is zero.
  EXPECT_LT(std::abs(error.sum().item<double>()), 5 * std::sqrt(expected));
}

TEST(Formats, StochasticRoundingIsUnbiasedWithTheVarianceOfTheNeighbours) {
  at::Tensor a = random_tensor(32, 96, 5);
  a.mul_(at::exp(random_tensor(32, 96, 6)));  // several binades
  for (const FormatPart& part : format_parts()) {
    for (const Granularity granularity : {Granularity::tensor, Granularity::row}) {
      // Blocks with a scale of e4m3 or a power of two may cut their largest numbers: not unbiased.
      if (part.own_block > 0) continue;
      Recipe recipe{Along::cols, {}, part.value, granularity, Rounding::stochastic};
      expect_unbiased(recipe, a);
    }
  }
}

// Where nothing is cut: the largest magnitude of each block is a number of the format.
TEST(Formats, BlocksAreUnbiasedWhereNothingIsCut) {
  at::Tensor a = random_tensor(32, 96, 5).clamp(-2, 2);
  a.reshape({-1, 16}).select(1, 0).fill_(6);
  for (const Format format : {Format::mxfp8, Format::mxfp4, Format::nvfp4}) {
    expect_unbiased({Along::cols, {}, format, Granularity::tensor, Rounding::stochastic}, a);
  }
}

TEST(Formats, NotFiniteNumbersAreCarriedOn) {
  for (const FormatPart& part : format_parts()) {
    if (part.kind == FormatPart::Kind::integer) continue;
    for (const float bad : {NAN, INFINITY}) {
      at::Tensor a = random_tensor(4, 64, 2);
      a[1][5] = bad;
      const Recipe recipe{Along::cols, {}, part.value};
      const at::Tensor r = rounded(a, recipe, scales_of(a, recipe)).values;
      EXPECT_FALSE(at::isfinite(r).all().item<bool>()) << part.name;
    }
    const at::Tensor zeros = at::zeros({4, 64});
    const Recipe recipe{Along::cols, {}, part.value};
    EXPECT_TRUE(at::equal(rounded(zeros, recipe, scales_of(zeros, recipe)).values, zeros));
  }
}

}  // namespace
}  // namespace hot::kernels
