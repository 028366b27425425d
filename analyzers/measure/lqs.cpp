#include "analyzers/measure/lqs.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/scheme.hpp"
#include "kernels/common/quantize.hpp"

namespace hot::measure {
namespace {

float largest_magnitude(const float* values, std::int64_t count) {
  float largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float magnitude = std::abs(values[i]);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

/// Σ (v − s·round(v/s))²: float terms, partial sums of a run of 64 in float, the rest in double.
double rounding_error(const float* values, std::int64_t count, float level, float scale) {
  constexpr std::int64_t kRun = 64;
  double sum = 0;
  for (std::int64_t start = 0; start < count; start += kRun) {
    float errors[kRun] = {};
    const std::int64_t length = std::min(kRun, count - start);
    for (std::int64_t i = 0; i < length; ++i) {
      const float v = values[start + i];
      const float t = kernels::scaled_to_level(v, scale, level);
      const float rounded = static_cast<float>(kernels::round_nearest(t));
      errors[i] = v - scale * rounded;
    }
    for (const float error : errors) sum += static_cast<double>(error) * static_cast<double>(error);
  }
  return sum;
}

}  // namespace

LqsErrors lqs_errors(const at::Tensor& gy) {
  const std::int64_t rows = gy.size(0);
  const std::int64_t cols = gy.size(1);
  const float* data = gy.const_data_ptr<float>();
  const auto level = static_cast<float>(max_level(Format::int4));
  std::vector<float> largest(static_cast<std::size_t>(rows));
  std::vector<LqsErrors> by_row(static_cast<std::size_t>(rows));
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / std::max<std::int64_t>(1, cols));
  at::parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      largest[static_cast<std::size_t>(r)] = largest_magnitude(data + r * cols, cols);
    }
  });
  const float tensor_scale = kernels::scale_for(largest_magnitude(largest.data(), rows), level);
  at::parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const auto i = static_cast<std::size_t>(r);
      const float row_scale = kernels::scale_for(largest[i], level);
      by_row[i].tensor = rounding_error(data + r * cols, cols, level, tensor_scale);
      by_row[i].row = rounding_error(data + r * cols, cols, level, row_scale);
    }
  });
  LqsErrors sum;
  for (const LqsErrors& row : by_row) {
    sum.tensor += row.tensor;
    sum.row += row.row;
  }
  return sum;
}

}  // namespace hot::measure
