#include "bench/kernel_passes.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "core/scheme.hpp"
#include "kernels/backward.hpp"
#include "kernels/ops.hpp"

namespace hot::bench {
namespace {

using kernels::Along;
using kernels::MatrixView;
using kernels::Order;

/// An operand as a scheme prepares it.
struct Preparation {
  const char* scheme;  ///< its granularity and rounding are those that are meant here
  Along along;
  Order order;
};

constexpr std::array<Preparation, 9> kPreparations = {{
    {"had16+int4/row/nearest", Along::cols, Order::rows},
    {"had16+int4/row/stochastic", Along::cols, Order::rows},
    {"had16+int4/tensor/nearest", Along::rows, Order::rows},
    {"had16+int4/tensor/nearest", Along::rows, Order::packed},
    {"low16r8.sequency+int8/tensor/nearest", Along::rows, Order::rows},
    {"low16r8.sequency+int8/tensor/nearest", Along::rows, Order::columns},
    {"low16r8.sequency+int8/tensor/nearest", Along::rows, Order::packed},
    {"none+int8/tensor/nearest", Along::cols, Order::rows},
    {"none+int8/tensor/stochastic", Along::cols, Order::rows},
}};

/// A matrix, its scales and levels under one preparation.
struct Job {
  Scheme scheme;
  Along along = Along::rows;
  kernels::Order order = Order::rows;
  at::Tensor in;             ///< float32 [rows, cols]
  at::Tensor levels;         ///< int8, of the transformed matrix
  kernels::MatrixSize size;  ///< of the transformed matrix
  at::Tensor scales;
};

/// Calls work(part of `in`, first row of it in the transformed matrix) for ranges of whole blocks.
template <class Work>
void over_parts(const Job& job, const Work& work) {
  const auto& t = job.scheme.transform;
  const bool blocks = job.along == Along::rows && t.kind != Transform::Kind::none;
  const std::int64_t unit = blocks ? t.order : 1;
  const std::int64_t kept = blocks ? kernels::transformed_length(unit, t) : 1;
  const std::int64_t rows = job.in.size(0);
  const MatrixView whole{job.in.const_data_ptr<float>(), rows, job.in.size(1), job.in.stride(0),
                         job.in.stride(1)};
  at::parallel_for(0, (rows + unit - 1) / unit, 1, [&](std::int64_t begin, std::int64_t end) {
    MatrixView part = whole;
    part.data += begin * unit * part.row_stride;
    part.rows = std::min(rows, end * unit) - begin * unit;
    work(part, begin * kept);
  });
}

void abs_max(const Job& job) {
  const auto& ops = kernels::cpu_ops();
  const auto count = static_cast<std::size_t>(job.size.rows);
  std::vector<float> largest(count, 0.0F);
  const bool by_row = job.scheme.granularity == Granularity::row;
  over_parts(job, [&](const MatrixView& part, std::int64_t first) {
    // One largest value a part, or one a row: parts have first rows of their own.
    ops.transform_abs_max(part, job.along, job.scheme.transform, job.scheme.granularity,
                          largest.data() + first);
  });
  if (!by_row) largest[0] = *std::max_element(largest.begin(), largest.end());
}

void quantize(const Job& job) {
  const auto& ops = kernels::cpu_ops();
  const float* scales = job.scales.const_data_ptr<float>();
  auto* out = job.levels.mutable_data_ptr<std::int8_t>();
  const bool by_row = job.scheme.granularity == Granularity::row;
  over_parts(job, [&](const MatrixView& part, std::int64_t first) {
    ops.transform_quantize(part, job.along, job.scheme.transform, job.scheme.format,
                           job.scheme.granularity, by_row ? scales + first : scales,
                           {job.scheme.rounding, 1},
                           {out, job.size.rows, job.size.cols, job.order, first});
  });
}

kernels::Operand prepare(const Job& job) {
  const auto& s = job.scheme;
  const kernels::Recipe recipe{job.along,  s.transform, s.format, s.granularity,
                               s.rounding, 1,           job.order};
  return kernels::prepare_all(job.in, std::span(&recipe, 1)).front();
}

std::string text(const Job& job) {
  const auto whole = to_string(job.scheme);
  const auto plus = whole.find('+');
  const char* order = job.order == Order::packed    ? " packed"
                      : job.order == Order::columns ? " columns"
                                                    : "";
  return whole.substr(0, plus) + (job.along == Along::rows ? " rows " : " cols ") +
         whole.substr(plus + 1) + order;
}

void add_preparation(std::vector<Pass>& passes, const at::Tensor& matrix, const Preparation& how) {
  auto job = std::make_shared<Job>();
  job->scheme = parse_scheme(how.scheme);
  job->along = how.along;
  job->order = how.order;
  job->in = matrix;
  const auto operand = prepare(*job);
  job->levels = operand.values;
  job->scales = operand.scales;
  job->size = kernels::size_of(operand);
  const std::int64_t read = 4 * matrix.numel();
  const std::int64_t written = job->levels.numel();
  const auto scheme = text(*job);
  if (job->scheme.rounding == Rounding::nearest && job->order == Order::rows)
    passes.push_back({"abs-max " + scheme, read, [job] { abs_max(*job); }});
  passes.push_back({"quantize " + scheme, read + written, [job] { quantize(*job); }});
  passes.push_back({"both " + scheme, 2 * read + written, [job] { (void)prepare(*job); }});
}

/// What one layer's two gradients by `hot` need of gy, in one go.
Pass both_operands(const at::Tensor& gy) {
  const std::array recipes = {
      kernels::gy_recipe(Path::grad_input, parse_scheme("had16+int4/row/stochastic"), 1),
      kernels::gy_recipe(Path::grad_weight, parse_scheme("low16r8.sequency+int8/tensor/nearest"),
                         2)};
  return {"gy of hot, both gradients", 2 * 4 * gy.numel() + gy.numel() + gy.numel() / 2,
          [=] { (void)kernels::prepare_all(gy, recipes); }};
}

void add_dequantize(std::vector<Pass>& passes, std::int64_t rows, std::int64_t cols, bool by_row) {
  const auto in = at::randint(-5000, 5000, {rows, cols}, at::kInt);
  const auto out = at::empty({rows, cols}, at::kFloat);
  const auto row_scales = at::rand({by_row ? rows : 1});
  const auto col_scales = at::rand({1});
  passes.push_back({fmt::format("dequantize {}", by_row ? "row" : "tensor"), 8 * in.numel(), [=] {
                      const auto* from = in.const_data_ptr<std::int32_t>();
                      auto* to = out.mutable_data_ptr<float>();
                      at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
                        kernels::cpu_ops().dequantize(
                            from + begin * cols, cols, end - begin, cols, 1.0F / 16,
                            row_scales.const_data_ptr<float>() + (by_row ? begin : 0),
                            by_row ? end - begin : 1, col_scales.const_data_ptr<float>(), 1,
                            to + begin * cols, cols);
                      });
                    }});
}

}  // namespace

std::vector<Pass> kernel_passes(std::int64_t rows, std::int64_t cols) {
  std::vector<Pass> passes;
  const auto matrix = at::randn({rows, cols});
  for (const auto& how : kPreparations) add_preparation(passes, matrix, how);
  passes.push_back(both_operands(matrix));
  add_dequantize(passes, rows, cols, false);
  add_dequantize(passes, rows, cols, true);
  return passes;
}

Pass plain_copy(std::int64_t bytes) {
  const std::int64_t half = bytes / 2;
  const auto from = at::zeros({half}, at::kByte);
  const auto to = at::zeros({half}, at::kByte);
  return {"copy", bytes, [=] {
            const auto* in = from.const_data_ptr<std::uint8_t>();
            auto* out = to.mutable_data_ptr<std::uint8_t>();
            at::parallel_for(0, half, 4096, [&](std::int64_t begin, std::int64_t end) {
              std::memcpy(out + begin, in + begin, static_cast<std::size_t>(end - begin));
            });
          }};
}

}  // namespace hot::bench
