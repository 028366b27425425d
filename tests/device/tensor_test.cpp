// Operands and products of tensors on the device that this program is linked with (the simulator,
// or a GPU), against the CPU's to the bit.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kernels/backward.hpp"
#include "kernels/device_operand.hpp"
#include "tests/device/tensor_device.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

/// The same work on the CPU and on the simulated device, whose tensors are copies of `inputs`.
template <class Work>
std::pair<at::Tensor, at::Tensor> both(const std::vector<at::Tensor>& inputs, const Work& work) {
  const at::Tensor expected = work(inputs);
  const TensorDevice device;
  std::vector<at::Tensor> there;
  for (const at::Tensor& input : inputs) there.push_back(device.there(input));
  return {expected, work(there).cpu().clone()};
}

std::vector<Scheme> schemes_of(Path path) {
  std::vector<Scheme> schemes;
  for (const Transform& transform : test_transforms())
    for (const Format format : {Format::none, Format::int8, Format::int4})
      for (const Granularity granularity :
           {Granularity::tensor, Granularity::row, Granularity::column}) {
        const bool along =
            granularity == (path == Path::grad_input ? Granularity::column : Granularity::row);
        if (along || (format == Format::none && granularity != Granularity::tensor)) continue;
        const Rounding rounding = format == Format::int8 ? Rounding::stochastic : Rounding::nearest;
        schemes.push_back({transform, format, granularity,
                           format == Format::int4 ? Granularity::column : Granularity::tensor,
                           rounding});
      }
  return schemes;
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() &&
         at::equal(a.contiguous().view(at::kInt), b.contiguous().view(at::kInt));
}

// Integers and their one rounding are the CPU's; float products are of the same transformed floats,
// by some library, whose order of adding is its own.
TEST(DeviceTensors, GradientsAreTheCpusForEverySchemeAndOddSize) {
  for (const auto& [rows, contracted, cols] :
       {std::tuple{1, 1, 1}, {17, 33, 11}, {49, 20, 35}, {0, 5, 3}})
    for (const Path path : {Path::grad_input, Path::grad_weight})
      for (const Scheme& scheme : schemes_of(path)) {
        const bool input = path == Path::grad_input;
        const at::Tensor gy =
            input ? random_tensor(rows, contracted, 1) : random_tensor(contracted, rows, 1);
        const at::Tensor other = random_tensor(contracted, cols, 2);
        const auto [cpu, device] = both({gy, other}, [&](const std::vector<at::Tensor>& in) {
          return input ? grad_input(in[0], in[1], scheme, 7) : grad_weight(in[0], in[1], scheme, 7);
        });
        const bool equal = scheme.format == Format::none ? at::allclose(cpu, device, 1e-5, 1e-5)
                                                         : same_bits(cpu, device);
        ASSERT_TRUE(equal) << rows << "x" << contracted << "x" << cols << " " << to_string(path)
                           << " " << to_string(scheme);
      }
}

TEST(DeviceTensors, TransposedOperandsGiveTheSameIntegers) {
  const Scheme scheme{{Transform::Kind::hadamard, 16, 16, Basis::sequency},
                      Format::int4,
                      Granularity::tensor,
                      Granularity::tensor,
                      Rounding::stochastic};
  const auto [cpu, device] =
      both({random_tensor(40, 33, 1).t(), random_tensor(29, 40, 2).t()},
           [&](const std::vector<at::Tensor>& in) { return grad_input(in[0], in[1], scheme, 3); });
  EXPECT_TRUE(same_bits(cpu, device));
}

TEST(DeviceTensors, FloatTransformsAreTheCpusFloats) {
  for (const Transform& transform : test_transforms())
    for (const Along along : {Along::rows, Along::cols}) {
      const auto [cpu, device] = both({random_tensor(37, 21, 1)}, [&](const auto& in) {
        return transformed(in[0], along, transform);
      });
      EXPECT_TRUE(same_bits(cpu, device)) << to_string(Scheme{transform});
    }
}

TEST(DeviceTensors, LevelsOfATransformedMatrixAreTheCpus) {
  for (const Format format : {Format::int8, Format::int4})
    for (const Granularity granularity : {Granularity::tensor, Granularity::row}) {
      const auto levels = [&](const std::vector<at::Tensor>& in) {
        const at::Tensor scales = scales_of(in[0], format, granularity);
        const Operand o = quantized(in[0], Along::cols, {}, format, granularity, scales,
                                    Rounding::stochastic, 11);
        return at::cat({matrix_of(o).to(at::kFloat), dequantized(o)});
      };
      const auto [cpu, device] = both({random_tensor(19, 45, 4)}, levels);
      EXPECT_TRUE(same_bits(cpu, device));
    }
}

TEST(DeviceTensors, RowsOfAnOperandMultiplyLikeThoseOfTheWhole) {
  const Scheme scheme{{}, Format::int8, Granularity::row, Granularity::tensor, Rounding::nearest};
  const at::Tensor gy = random_tensor(50, 24, 1);
  const at::Tensor w = random_tensor(24, 9, 2);
  for (const auto& [first, count] : {std::pair{0, 50}, {3, 16}, {35, 15}, {49, 1}}) {
    const auto [cpu, device] = both({gy, w}, [&](const std::vector<at::Tensor>& in) {
      const Operand all = prepare_gy(in[0], Path::grad_input, scheme, 0);
      return multiply(rows_of(all, first, count), prepare_w(in[1], scheme));
    });
    EXPECT_TRUE(same_bits(cpu, device)) << first << " " << count;
  }
}

TEST(DeviceTensors, SumsBeyondInt32AreExact) {
  const std::int64_t terms = 133144 + 40;
  const Scheme scheme{
      {}, Format::int8, Granularity::tensor, Granularity::tensor, Rounding::nearest};
  const auto [cpu, device] =
      both({at::ones({terms, 1}), at::ones({terms, 1})},
           [&](const auto& in) { return grad_weight(in[0], in[1], scheme, 0); });
  EXPECT_TRUE(same_bits(cpu, device));
}

TEST(DeviceTensors, NanMakesTheProductNotFinite) {
  at::Tensor gy = random_tensor(20, 20, 1);
  gy[3][4] = std::numeric_limits<float>::quiet_NaN();
  const Scheme scheme{
      {}, Format::int8, Granularity::tensor, Granularity::tensor, Rounding::nearest};
  const auto [cpu, device] = both({gy, random_tensor(20, 8, 2)}, [&](const auto& in) {
    return grad_input(in[0], in[1], scheme, 0).isfinite().any().to(at::kFloat).reshape({1, 1});
  });
  EXPECT_EQ(device.item<float>(), 0.0F);
  EXPECT_EQ(cpu.item<float>(), 0.0F);
}

// By tensor cores where the device has them, whose sums keep fewer bits than float32.
TEST(DeviceTensors, Fp8GradientsAreNearTheSimulations) {
  for (const char* text : {"none+fp8e4m3/row:column", "had16+fp8e5m2:fp8e4m3/tensor/stochastic"}) {
    const Scheme scheme = parse_scheme(text);
    const auto [cpu, device] =
        both({random_tensor(33, 49, 1), random_tensor(49, 21, 2)},
             [&](const auto& in) { return grad_input(in[0], in[1], scheme, 7); });
    EXPECT_TRUE(at::allclose(cpu, device, 0, 2e-3 * cpu.abs().max().item<double>())) << text;
  }
}

TEST(DeviceTensors, MixturesOfFp8AndIntegersAreMultipliedAsFloats) {
  const Scheme scheme = parse_scheme("had16+int8:fp8e4m3");
  const auto [cpu, device] =
      both({random_tensor(20, 32, 1), random_tensor(32, 9, 2)},
           [&](const auto& in) { return grad_input(in[0], in[1], scheme, 0); });
  EXPECT_TRUE(at::allclose(cpu, device, 1e-5, 1e-5));
}

}  // namespace
}  // namespace hot::kernels
