#include "analyzers/measure/operand_summary.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/common/basis.hpp"

namespace hot::measure {
namespace {

/// Parts of a matrix whose column sums are added in order, so that they depend on no thread count.
constexpr std::int64_t kParts = 8;

/// Runs task(first, last, part) for kParts ranges of 0 … count.
void for_parts(std::int64_t count,
               const std::function<void(std::int64_t, std::int64_t, std::size_t)>& task) {
  at::parallel_for(0, kParts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      task(count * part / kParts, count * (part + 1) / kParts, static_cast<std::size_t>(part));
    }
  });
}

Transform full_transform(int order) {
  const auto kind = order == 1 ? Transform::Kind::none : Transform::Kind::hadamard;
  return {kind, order, order, Basis::sequency};
}

}  // namespace

double Energies::total() const {
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

Energies energies(const at::Tensor& matrix) {
  const std::int64_t rows = matrix.size(0);
  const std::int64_t cols = matrix.size(1);
  const auto width = static_cast<std::size_t>(cols);
  Energies result{std::vector<double>(static_cast<std::size_t>(rows)), std::vector<double>(width)};
  std::vector<std::vector<double>> parts(kParts, std::vector<double>(width));
  const float* data = matrix.const_data_ptr<float>();
  for_parts(rows, [&](std::int64_t first, std::int64_t last, std::size_t part) {
    double* col_sums = parts[part].data();
    std::vector<double> squares(width);
    for (std::int64_t row = first; row < last; ++row) {
      const float* values = data + row * cols;
      for (std::size_t j = 0; j < width; ++j) {
        squares[j] = static_cast<double>(values[j]) * static_cast<double>(values[j]);
        col_sums[j] += squares[j];
      }
      result.rows[static_cast<std::size_t>(row)] = std::reduce(squares.begin(), squares.end(), 0.0);
    }
  });
  for (const auto& part : parts) {
    std::transform(part.begin(), part.end(), result.cols.begin(), result.cols.begin(),
                   std::plus<>());
  }
  return result;
}

Maxima::Maxima(kernels::Along along, std::span<const Scheme> schemes) : along_(along) {
  for (const Scheme& scheme : schemes) {
    if (scheme.format == Format::none) continue;
    const auto order = static_cast<std::size_t>(scheme.transform.order);
    by_row_.emplace(scheme.transform.order, std::vector<float>(order));
  }
}

void Maxima::add(const at::Tensor& part) {
  const std::int64_t cols = part.size(1);
  const bool down = along_ == kernels::Along::rows;
  for (auto& [order, largest] : by_row_) {
    const Transform transform = full_transform(order);
    const std::int64_t unit = down ? order : 1;  // a block of rows is never divided
    std::vector<std::vector<float>> found(kParts);
    for_parts((part.size(0) + unit - 1) / unit, [&](std::int64_t first, std::int64_t last,
                                                    std::size_t p) {
      const std::int64_t rows = std::min(part.size(0), last * unit) - first * unit;
      if (rows <= 0) return;
      const kernels::MatrixView view{part.const_data_ptr<float>() + first * unit * cols, rows, cols,
                                     cols, 1};
      const std::int64_t length = down ? rows : cols;
      found[p].resize(static_cast<std::size_t>(kernels::transformed_length(length, transform)));
      kernels::cpu_ops().transform_abs_max(
          view, along_, transform, down ? Granularity::row : Granularity::column, found[p].data());
    });
    for (const auto& values : found) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        float& old = largest[i % largest.size()];
        old = std::max(old, values[i]);
      }
    }
  }
}

float Maxima::of(const Transform& transform) const {
  const std::vector<float>& by_row = by_row_.at(transform.order);
  float largest = 0;
  for (const int row : kernels::kept_rows(transform)) {
    largest = std::max(largest, by_row[static_cast<std::size_t>(row)]);
  }
  return largest;
}

}  // namespace hot::measure
