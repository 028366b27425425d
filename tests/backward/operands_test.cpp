#include "backward/operands.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>

namespace hot::backward {
namespace {

struct Case {
  std::string name;
  std::vector<std::int64_t> x, weight;
  Window window;
};

Window window(std::vector<std::int64_t> kernel, std::int64_t stride, std::int64_t padding,
              std::int64_t dilation, bool transposed = false, std::int64_t output_padding = 0) {
  const auto n = kernel.size();
  Window w;
  w.convolution = true;
  w.transposed = transposed;
  w.kernel = std::move(kernel);
  w.stride.assign(n, stride);
  w.padding.assign(n, padding);
  w.dilation.assign(n, dilation);
  w.output_padding.assign(n, output_padding);
  return w;
}

class OperandsTest : public ::testing::TestWithParam<Case> {};

double deviation(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

// The two GEMMs over the matrices are the convolution's own gradients, whatever the window.
TEST_P(OperandsTest, MatricesGiveTheConvolutionsOwnGradients) {
  const auto& c = GetParam();
  at::manual_seed(1);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  Operands o;
  o.kind = LayerKind::conv;
  o.window = c.window;
  o.x = at::randn(c.x, options);
  o.weight = at::randn(c.weight, options);
  o.x_sizes = c.x;
  const auto& w = c.window;
  const auto y = at::convolution(o.x, o.weight, {}, w.stride, w.padding, w.dilation, w.transposed,
                                 w.output_padding, 1);
  o.gy = at::randn(y.sizes(), options);
  const auto [gx, gw, gb] =
      at::convolution_backward(o.gy, o.x, o.weight, std::nullopt, w.stride, w.padding, w.dilation,
                               w.transposed, w.output_padding, 1, {true, true, false});
  const auto gy = gy_matrix(o);
  EXPECT_LT(deviation(grad_input_from_matrix(o, gy.mm(weight_matrix(o))), gx), 1e-12);
  EXPECT_LT(deviation(grad_weight_from_matrix(o, gy.t().mm(x_matrix(o))), gw), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(
    Windows, OperandsTest,
    ::testing::Values(
        Case{"conv1d", {2, 3, 11}, {4, 3, 3}, window({3}, 1, 1, 1)},
        Case{"conv2d", {2, 3, 9, 8}, {5, 3, 3, 3}, window({3, 3}, 1, 1, 1)},
        Case{"pointwise", {2, 3, 9, 8}, {5, 3, 1, 1}, window({1, 1}, 1, 0, 1)},
        Case{"pointwise_strided", {2, 3, 9, 8}, {5, 3, 1, 1}, window({1, 1}, 2, 0, 1)},
        Case{"patches", {2, 3, 8, 8}, {6, 3, 4, 4}, window({4, 4}, 4, 0, 1)},
        Case{"strided_leaves_a_rest", {2, 3, 10, 9}, {5, 3, 3, 2}, window({3, 2}, 2, 0, 1)},
        Case{"strided_padded", {2, 3, 9, 9}, {5, 3, 7, 7}, window({7, 7}, 2, 3, 1)},
        Case{"dilated", {2, 3, 11, 12}, {5, 3, 3, 3}, window({3, 3}, 1, 2, 2)},
        Case{"conv3d", {2, 2, 5, 6, 4}, {3, 2, 2, 3, 2}, window({2, 3, 2}, 2, 1, 1)},
        Case{"transposed", {2, 3, 5, 4}, {3, 6, 3, 3}, window({3, 3}, 2, 1, 1, true)},
        Case{"transposed_output_padding",
             {2, 3, 5, 4},
             {3, 6, 3, 3},
             window({3, 3}, 2, 1, 1, true, 1)},
        Case{"transposed_1d", {2, 3, 7}, {3, 2, 4}, window({4}, 2, 0, 1, true)},
        Case{"transposed_pointwise", {2, 3, 5, 4}, {3, 6, 1, 1}, window({1, 1}, 1, 0, 1, true)},
        Case{"transposed_3d", {1, 2, 3, 4, 3}, {2, 3, 2, 2, 2}, window({2, 2, 2}, 2, 0, 1, true)}),
    [](const auto& test) { return test.param.name; });

// Linear layers of any rank, and weights kept as [I×O] (addmm), reduce to the same two products.
TEST(LinearOperandsTest, LeadingDimensionsAndTransposedWeights) {
  at::manual_seed(2);
  const auto options = at::TensorOptions().dtype(at::kDouble);
  for (const bool transposed : {false, true}) {
    Operands o;
    o.weight = transposed ? at::randn({5, 7}, options) : at::randn({7, 5}, options);
    o.weight_transposed = transposed;
    o.x = at::randn({2, 3, 5}, options);
    o.x_sizes = {2, 3, 5};
    o.gy = at::randn({2, 3, 7}, options);
    const auto w = transposed ? o.weight.t() : o.weight;
    EXPECT_EQ(weight_matrix(o).data_ptr(), o.weight.data_ptr());
    EXPECT_LT(deviation(grad_input_from_matrix(o, gy_matrix(o).mm(weight_matrix(o))),
                        at::matmul(o.gy, w)),
              1e-12);
    const auto gw = grad_weight_from_matrix(o, gy_matrix(o).t().mm(x_matrix(o)));
    EXPECT_EQ(gw.sizes(), o.weight.sizes());
    const auto expected = at::einsum("abo,abi->oi", {o.gy, o.x});
    EXPECT_LT(deviation(transposed ? gw.t() : gw, expected), 1e-12);
  }
}

}  // namespace
}  // namespace hot::backward
