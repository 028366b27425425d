#include "bench/layer_parts.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cstdint>
#include <map>
#include <string>

#include "bench/stopwatch.hpp"
#include "core/scheme.hpp"
#include "kernels/backward.hpp"
#include "kernels/ops.hpp"

namespace hot::bench {
namespace {

using kernels::Along;
using kernels::Operand;

/// The sums of an integer product as floats, scaled like multiply() does it; a tensor-wide scale on
/// both sides, or one a row of `gy`.
at::Tensor dequantized(const at::Tensor& sums, const Operand& gy, const Operand& other) {
  const auto result = at::empty(sums.sizes(), at::kFloat);
  const std::int64_t cols = sums.size(1);
  const bool by_row = gy.scales.numel() > 1;
  at::parallel_for(0, sums.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    kernels::cpu_ops().dequantize(sums.const_data_ptr<std::int32_t>() + begin * cols, end - begin,
                                  cols, 1.0F / static_cast<float>(gy.transform.order),
                                  gy.scales.const_data_ptr<float>() + (by_row ? begin : 0),
                                  by_row ? end - begin : 1, other.scales.const_data_ptr<float>(),
                                  other.scales.numel(),
                                  result.mutable_data_ptr<float>() + begin * cols);
  });
  return result;
}

/// One step by step pass; every step adds its time to a part.
class Steps {
 public:
  Steps(const LayerTensors& layer, const Scheme& grad_input, const Scheme& grad_weight)
      : grad_input_(grad_input), grad_weight_(grad_weight) {
    o_.kind = layer.window.convolution ? LayerKind::conv : LayerKind::linear;
    o_.window = layer.window;
    o_.gy = layer.gy;
    o_.weight = layer.weight.detach();
    o_.x = layer.x.detach();
    o_.x_sizes = layer.x.sizes().vec();
  }

 private:
  template <class Step>
  auto timed(const char* part, const Step& step) {
    watch_.lap();
    auto result = step();
    parts_[part] += watch_.lap();
    return result;
  }

 public:
  Times run() {
    // x is prepared in forward where it needs no unfolding, else in backward.
    const bool early = o_.window.trivial();
    Operand x;
    if (early) x = prepared_x();
    (void)forward_product(o_.x, o_.weight, o_.window);
    watch_.lap();
    const auto gy = timed("layout", [&] { return backward::gy_matrix(o_); });
    const auto gx = product("gy", gy, Along::cols, grad_input_, prepared_weight());
    (void)timed("layout", [&] { return backward::grad_input_from_matrix(o_, gx); });
    if (!early) x = prepared_x();
    (void)product("gy", gy, Along::rows, grad_weight_, x);
    Times times{0, parts_};
    for (const auto& [part, seconds] : parts_) times.seconds += seconds;
    return times;
  }

 private:
  Operand prepared_x() {
    const auto matrix = timed("layout", [&] { return backward::x_matrix(o_); });
    return timed("x", [&] { return kernels::prepare_x(matrix, grad_weight_); });
  }

  Operand prepared_weight() {
    const auto& s = grad_input_;
    const auto matrix = backward::weight_matrix(o_);
    return timed("weight", [&] {
      return kernels::prepare(matrix, Along::rows, s.transform, s.format, s.other,
                              Rounding::nearest, 0);
    });
  }

  at::Tensor product(const char* part, const at::Tensor& gy, Along along, const Scheme& s,
                     const Operand& other) {
    const auto levels = timed(part, [&] {
      return kernels::prepare(gy, along, s.transform, s.format, s.granularity, s.rounding, 1);
    });
    const auto left = along == Along::cols ? levels.values : levels.values.t();
    const auto sums = timed(
        "gemm", [&] { return kernels::integer_gemm(left, other.values, max_level(s.format)); });
    return timed("dequantize", [&] { return dequantized(sums, levels, other); });
  }

  const Scheme& grad_input_;
  const Scheme& grad_weight_;
  backward::Operands o_;
  Stopwatch watch_;
  std::map<std::string, double> parts_;
};

}  // namespace

Contender layer_parts(const LayerTensors& layer, const Preset& preset) {
  const auto grad_input = parse_scheme(preset.grad_input);
  const auto grad_weight = parse_scheme(preset.grad_weight);
  return {std::string(preset.name) + " parts",
          [=] { return Steps(layer, grad_input, grad_weight).run(); }};
}

}  // namespace hot::bench
