// What the simulated device alone can show of operands and products on tensors: running out of
// memory, and FP8 with and without tensor cores.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/backward.hpp"
#include "tests/device/sim_backend.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() &&
         at::equal(a.contiguous().view(at::kInt), b.contiguous().view(at::kInt));
}

// What doesn't fit at once is made in pieces of rows; below the smallest piece the error stays.
TEST(DeviceTensors, OutOfMemoryMakesTheProductInPieces) {
  const Scheme scheme{{}, Format::int8, Granularity::row, Granularity::tensor, Rounding::nearest};
  const at::Tensor gy = random_tensor(1000, 8, 1);
  const at::Tensor w = random_tensor(8, 3, 2);
  const at::Tensor expected = grad_input(gy, w, scheme, 0);
  SimBackend device;
  const at::Tensor there = gy.clone();
  const at::Tensor w_there = w.clone();
  device.most_rows = 300;
  EXPECT_TRUE(same_bits(grad_input(there, w_there, scheme, 0), expected));
  EXPECT_EQ(device.products_run, 4);
  device.most_rows = 100;
  EXPECT_THROW((void)grad_input(there, w_there, scheme, 0), c10::OutOfMemoryError);
}

std::vector<Scheme> fp8_schemes(Path path) {
  std::vector<Scheme> schemes;
  for (const char* transform : {"none", "had16", "low16r8", "had64"})
    for (const char* formats : {"fp8e4m3", "fp8e5m2:fp8e4m3", "fp8e4m3:fp8e5m2", "fp8e5m2"})
      for (const char* scales : {"tensor", path == Path::grad_input ? "row:column" : "column"})
        for (const char* rounding : {"nearest", "stochastic"})
          schemes.push_back(
              parse_scheme(std::string(transform) + "+" + formats + "/" + scales + "/" + rounding));
  return schemes;
}

// The numbers are the CPU's simulation's to the bit; sums are floats, so their order shows. By
// tensor cores where the device has them for the pair, else simulated on the device.
TEST(DeviceTensors, Fp8GradientsAreTheSimulationsWithAndWithoutTensorCores) {
  for (const bool native : {true, false})
    for (const Path path : {Path::grad_input, Path::grad_weight})
      for (const Scheme& scheme : fp8_schemes(path)) {
        const bool input = path == Path::grad_input;
        const at::Tensor gy = input ? random_tensor(33, 49, 1) : random_tensor(49, 33, 1);
        const at::Tensor other = random_tensor(49, 21, 2);
        const auto gradient = [&](const at::Tensor& a, const at::Tensor& b) {
          return input ? grad_input(a, b, scheme, 7) : grad_weight(a, b, scheme, 7);
        };
        const at::Tensor expected = gradient(gy, other);
        const at::Tensor levels = dequantized(prepare_gy(gy, path, scheme, 7));
        SimBackend device;
        device.has_fp8 = native;
        const at::Tensor there = gy.clone();
        const Operand operand = prepare_gy(there, path, scheme, 7);
        EXPECT_EQ(operand.format, scheme.format);
        EXPECT_TRUE(same_bits(dequantized(operand), levels)) << to_string(scheme);
        const at::Tensor product = gradient(there, other.clone());
        const float largest = expected.abs().max().item<float>();
        EXPECT_TRUE(at::allclose(product, expected, 0, 1e-5 * largest)) << to_string(scheme);
        const bool tensor_cores = native && fp8_pair(scheme.format, scheme.format_of_other());
        EXPECT_EQ(device.fp8_products_run, tensor_cores ? 1 : 0) << to_string(scheme);
      }
}

TEST(DeviceTensors, Fp8ProductsAreMadeInPiecesToo) {
  const Scheme scheme = parse_scheme("none+fp8e4m3/row");
  const at::Tensor gy = random_tensor(1000, 8, 1);
  const at::Tensor w = random_tensor(8, 3, 2);
  const at::Tensor expected = grad_input(gy, w, scheme, 0);
  SimBackend device;
  device.has_fp8 = true;
  device.most_rows = 300;
  EXPECT_TRUE(at::allclose(grad_input(gy.clone(), w.clone(), scheme, 0), expected, 1e-5, 1e-5));
  EXPECT_EQ(device.fp8_products_run, 4);
}

TEST(DeviceTensors, NanStaysNanInFp8) {
  at::Tensor gy = random_tensor(20, 20, 1);
  gy[3][4] = std::numeric_limits<float>::quiet_NaN();
  SimBackend device;
  device.has_fp8 = true;
  const at::Tensor product =
      grad_input(gy.clone(), random_tensor(20, 8, 2).clone(), parse_scheme("none+fp8e4m3/row"), 0);
  EXPECT_TRUE(product[3].isnan().all().item<bool>());
  EXPECT_TRUE(product[2].isfinite().all().item<bool>());
}

TEST(DeviceTensors, HalfPrecisionOperandsAreReadAsTheyAre) {
  const SimBackend device;
  const at::Tensor gy = random_tensor(33, 18, 1).to(at::kBFloat16);
  const at::Tensor w = random_tensor(18, 7, 2).to(at::kHalf);
  const Scheme scheme{{Transform::Kind::hadamard, 8, 8, Basis::sequency},
                      Format::int8,
                      Granularity::tensor,
                      Granularity::tensor,
                      Rounding::nearest};
  EXPECT_TRUE(same_bits(grad_input(gy, w, scheme, 0),
                        grad_input(gy.to(at::kFloat), w.to(at::kFloat), scheme, 0)));
}

TEST(DeviceTensors, LongestMemoryIsTheLevelsOwn) {
  const SimBackend device;
  const Scheme int4{{}, Format::int4, Granularity::tensor, Granularity::tensor, Rounding::nearest};
  const Operand x = prepare_x(random_tensor(64, 32, 1).clone(), int4);
  EXPECT_EQ(x.values.nbytes(), 64 * 32 / 2);
}

}  // namespace
}  // namespace hot::kernels
