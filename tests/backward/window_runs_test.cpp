#include "backward/window_runs.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "backward/folded_product.hpp"
#include "backward/image_gradient.hpp"
#include "backward/integer_convolution.hpp"
#include "backward/pixel_rows.hpp"
#include "backward/unfold.hpp"
#include "backward/unfolded_rows.hpp"
#include "kernels/integer_gemm.hpp"

namespace hot::backward {
namespace {

struct Case {
  std::vector<std::int64_t> image, kernel, stride, padding, dilation;
  bool covers;
};

std::vector<Case> cases() {
  return {{{7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true},
          {{8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, true},
          {{9, 8}, {1, 1}, {2, 2}, {0, 0}, {1, 1}, false},
          {{9, 9}, {2, 3}, {3, 2}, {0, 1}, {1, 1}, false},
          {{9, 11}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, true},
          {{23}, {5}, {3}, {2}, {1}, true},
          {{1, 1}, {7, 7}, {1, 1}, {3, 3}, {1, 1}, true},
          {{4, 5, 6}, {2, 3, 3}, {1, 2, 1}, {0, 1, 1}, {1, 1, 1}, true},
          {{4, 5, 6}, {2, 3, 3}, {1, 1, 1}, {1, 0, 1}, {1, 1, 2}, true},
          {{23}, {3}, {1}, {4}, {1}, true},
          {{19, 20}, {5, 3}, {1, 1}, {0, 1}, {1, 1}, true}};
}

Window window_of(const Case& c) {
  Window w;
  w.convolution = true;
  w.kernel = c.kernel;
  w.stride = c.stride;
  w.padding = c.padding;
  w.dilation = c.dilation;
  w.output_padding.assign(c.kernel.size(), 0);
  return w;
}

at::Tensor image_of(const Case& c, std::int64_t samples, std::int64_t channels) {
  std::vector<std::int64_t> sizes{samples, channels};
  sizes.insert(sizes.end(), c.image.begin(), c.image.end());
  return at::randn(sizes);
}

/// Columns (channel, place) as (place, channel).
at::Tensor places_first(const at::Tensor& columns, std::int64_t channels) {
  return columns.view({columns.size(0), channels, -1}).transpose(1, 2).reshape(columns.sizes());
}

// Pixel rows and back, for contiguous and channels-last images of odd sizes.
TEST(PixelRowsTest, ThereAndBack) {
  at::manual_seed(3);
  for (const auto& c : cases())
    for (const std::int64_t channels : {1, 5, 17, 33}) {
      const auto image = image_of(c, 2, channels);
      const auto expected = image.movedim(1, -1).reshape({-1, channels});
      EXPECT_TRUE(at::equal(pixel_rows(image), expected));
      const auto last = image.movedim(1, -1).contiguous().movedim(-1, 1);
      EXPECT_TRUE(at::equal(pixel_rows(last), expected));
      EXPECT_EQ(pixel_rows(last).data_ptr(), last.data_ptr());
      EXPECT_TRUE(at::equal(image_of_pixel_rows(expected, image.sizes()), image));
      const kernels::Recipe recipe{kernels::Along::cols, parse_scheme("had16").transform};
      for (const auto& each : {image, last})
        EXPECT_TRUE(at::equal(prepare_pixel_rows(each, std::span(&recipe, 1)).front().values,
                              kernels::transformed(expected, recipe.along, recipe.transform)));
    }
}

// The operand made in pieces is the operand of the whole unfolded matrix, to the bit.
TEST(UnfoldedRowsTest, PiecesGiveTheWholeOperand) {
  at::manual_seed(4);
  for (const auto& c : cases()) {
    const auto w = window_of(c);
    const WindowRuns runs(w, c.image, w.positions(c.image));
    EXPECT_EQ(runs.covers(), c.covers);
    const std::int64_t channels = 6;
    const auto image = image_of(c, 3, channels);
    const auto whole = places_first(unfold(image, w, w.positions(c.image)), channels);
    for (const char* text :
         {"none+int8/tensor/nearest", "none+int8/tensor:column/nearest",
          "had16+int4/tensor/nearest", "low16r8+int8/tensor/nearest", "low16r8"}) {
      const auto scheme = parse_scheme(text);
      const auto expected = kernels::prepare_x(whole, scheme);
      const auto made = prepare_unfolded(image, runs, scheme);
      EXPECT_TRUE(at::equal(kernels::matrix_of(made), kernels::matrix_of(expected))) << text;
      if (expected.scales.defined()) {
        EXPECT_TRUE(at::equal(made.scales, expected.scales)) << text;
      }
    }
  }
}

// Folding in pieces is the adjoint of unfolding, for a scale per row too.
TEST(FoldedProductTest, IsTheFoldedWhole) {
  at::manual_seed(5);
  for (const auto& c : cases()) {
    const auto w = window_of(c);
    const auto positions = w.positions(c.image);
    const WindowRuns runs(w, c.image, positions);
    const std::int64_t channels = 6;
    const auto image = image_of(c, 3, channels);
    const auto gy = at::randn({3 * runs.positions(), 10});
    const auto weight = at::randn({10, runs.places() * channels});
    for (const char* text : {"none+int8/tensor/nearest", "had16+int4/row/stochastic"}) {
      const auto scheme = parse_scheme(text);
      const auto a = kernels::prepare_gy(gy, Path::grad_input, scheme, 7);
      const auto b = kernels::prepare_w(weight, scheme);
      const auto product = kernels::multiply(a, b);
      const auto by_channel =
          product.view({product.size(0), -1, channels}).transpose(1, 2).reshape(product.sizes());
      const auto expected = fold(by_channel, w, image.sizes(), positions);
      const auto made = image_of_pixel_rows(folded_product(a, b, runs), image.sizes());
      EXPECT_LT((made - expected).abs().max().item<double>(),
                1e-6 * expected.abs().max().item<double>())
          << text;
    }
  }
}

/// Σ over places of exact integers, scaled once.
at::Tensor reference_convolution(const kernels::Operand& gy, const kernels::Operand& w,
                                 const Window& window, at::IntArrayRef x_sizes,
                                 std::int64_t places) {
  const auto left = kernels::matrix_of(gy).to(at::kDouble);
  const auto right = kernels::matrix_of(w).to(at::kDouble);
  const auto product = left.mm(right);
  const auto by_channel =
      product.view({product.size(0), places, -1}).transpose(1, 2).reshape(product.sizes());
  const auto sums = fold(by_channel, window, x_sizes, window.positions(x_sizes.slice(2)));
  const float factor = 1.0F / static_cast<float>(gy.transform.order);
  const auto scale = gy.scales.mul(factor).mul(w.scales);  // both of one element
  return sums.to(at::kFloat)
      .mul(scale.view(
          at::IntArrayRef(std::vector<std::int64_t>(static_cast<std::size_t>(x_sizes.size()), 1))));
}

// The two ways give the same bits: windows of every kind, padding less, equal and more than the
// kernel reaches, dilation, one to three dimensions, channels that fill panels and that don't.
TEST(IntegerConvolutionTest, SumsOverPlacesAreExact) {
  at::manual_seed(6);
  int served = 0;
  for (const auto& c : cases())
    for (const std::int64_t channels : {6, 64, 130})
      for (const std::int64_t outputs : {10, 33}) {
        const auto w = window_of(c);
        const auto positions = w.positions(c.image);
        const WindowRuns runs(w, c.image, positions);
        const auto image = image_of(c, 3, channels);
        const auto gy = at::randn({3 * runs.positions(), outputs});
        const auto weight = at::randn({outputs, runs.places() * channels});
        for (const char* text :
             {"none+int8/tensor/nearest", "had16+int4/tensor/stochastic",
              "low16r8+int8/tensor/nearest", "had16+int4/row/stochastic",
              "none+int8/row:column/nearest", "none+int8/tensor:column/nearest"}) {
          const auto scheme = parse_scheme(text);
          const auto a = kernels::prepare_gy(gy, Path::grad_input, scheme, 7);
          const auto b = kernels::prepare_w(weight, scheme);
          const auto folded = image_of_pixel_rows(folded_product(a, b, runs), image.sizes());
          if (a.scales.numel() == 1 && b.scales.numel() == 1) {
            EXPECT_TRUE(
                at::equal(folded, reference_convolution(a, b, w, image.sizes(), runs.places())))
                << text << ", " << channels << " channels";
          }
          if (!convolves_integers(a, w)) continue;
          ++served;
          const auto made = integer_convolution(a, b, w, image.sizes());
          EXPECT_TRUE(at::equal(made, folded)) << text << ", " << channels << " channels";
        }
      }
  if (kernels::brgemm_serves() && kernels::integer_route().route == kernels::IntegerRoute::brgemm) {
    EXPECT_GT(served, 200);
  }
}

// A scale for each pixel, or each channel of W, goes with a kernel of one place.
TEST(IntegerConvolutionTest, TakesScalesByPixelForOnePlace) {
  at::manual_seed(8);
  const Window w{true, false, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}, 1};
  for (const std::int64_t side : {7, 16}) {
    const std::vector<std::int64_t> sizes{3, 70, side, side};
    const auto gy = at::randn({3 * side * side, 21});
    const auto weight = at::randn({21, 70});
    for (const char* text : {"had16+int4/row/stochastic", "none+int8/row:column/nearest"}) {
      const auto scheme = parse_scheme(text);
      const auto a = kernels::prepare_gy(gy, Path::grad_input, scheme, 7);
      const auto b = kernels::prepare_w(weight, scheme);
      const auto expected = image_of_pixel_rows(kernels::multiply(a, b), sizes);
      EXPECT_TRUE(at::equal(image_gradient(a, b, w, nullptr, sizes), expected)) << text;
    }
  }
}

}  // namespace
}  // namespace hot::backward
