#include "analyzers/measure/operand_summary.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "analyzers/measure/workers.hpp"
#include "kernels/adapted_rows.hpp"
#include "kernels/backward.hpp"
#include "kernels/common/basis.hpp"
#include "kernels/outliers.hpp"

namespace hot::measure {
namespace {

/// Parts of a matrix whose column sums are added in order, so that they depend on no thread count.
constexpr std::int64_t kParts = 8;

/// Elements of a matrix that are worth several threads.
constexpr std::int64_t kManyElements = 1 << 16;

/// Runs task(0) … task(count-1), on several threads for a large matrix.
void run(std::int64_t count, const at::Tensor& matrix,
         const std::function<void(std::int64_t)>& task) {
  if (matrix.numel() >= kManyElements) return run_tasks(count, task);
  for (std::int64_t i = 0; i < count; ++i) task(i);
}

/// The part-th of kParts ranges of 0 … count.
struct Range {
  std::int64_t first, last;
  Range(std::int64_t count, std::int64_t part)
      : first(count * part / kParts), last(count * (part + 1) / kParts) {}
};

/// All rows of H_n, with the signs and samples of `transform`.
Transform full_transform(const Transform& transform) {
  if (transform.kind == Transform::Kind::none) return {};
  Transform full = transform;
  full.basis = Basis::sequency;
  full.kept = 0;
  if (full.span == Span::divisor) full = flat_transform(full);
  if (full.kind == Transform::Kind::lowrank) full.kind = Transform::Kind::hadamard;
  full.rank = full.order;
  return full;
}

/// Largest magnitudes after H_order, one for each index of the contraction, of the part-th range of
/// a contiguous matrix' rows; blocks of rows are never divided.
std::vector<float> contracted_maxima(const at::Tensor& matrix, kernels::Along along,
                                     const Transform& transform, std::int64_t part) {
  const bool down = along == kernels::Along::rows;
  const std::int64_t order = transform.order;
  const std::int64_t unit = down ? order : 1;
  const Range units((matrix.size(0) + unit - 1) / unit, part);
  const std::int64_t first = units.first * unit;
  const std::int64_t rows = std::min(matrix.size(0), units.last * unit) - first;
  if (rows <= 0) return {};
  const std::int64_t cols = matrix.size(1);
  const kernels::MatrixView view{matrix.const_data_ptr<float>() + first * cols, rows, cols, cols,
                                 1};
  const std::int64_t length = kernels::transformed_length(down ? rows : cols, transform);
  std::vector<float> largest(static_cast<std::size_t>(length));
  kernels::cpu_ops().transform_abs_max(
      view, along, transform, down ? Granularity::row : Granularity::column, largest.data());
  return largest;
}

/// Raises the largest of each row of H_n by those of some blocks.
void raise(std::vector<float>& largest, std::span<const float> found) {
  for (std::size_t j = 0; j < found.size(); ++j) {
    float& old = largest[j % largest.size()];
    old = std::max(old, found[j]);
  }
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
  run(kParts, matrix, [&](std::int64_t part) {
    double* col_sums = parts[static_cast<std::size_t>(part)].data();
    std::vector<double> squares(width);
    const Range range(rows, part);
    for (std::int64_t row = range.first; row < range.last; ++row) {
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
    if (scheme.outliers > 0) by_index_.emplace(Transform{}, at::Tensor());
    if (scheme.format == Format::none || scheme.outliers > 0) continue;
    add(scheme);
  }
}

void Maxima::add(const Scheme& scheme) {
  const Transform full = full_transform(scheme.transform);
  by_row_.emplace(full, std::vector<float>(static_cast<std::size_t>(full.order)));
  if (scheme.block > 0) by_index_.emplace(full, at::Tensor());
}

void Maxima::add(const at::Tensor& part) {
  std::vector<Transform> flat;
  for (auto& [transform, largest] : by_row_) {
    if (!kernels::adapts_rows(transform)) {
      flat.push_back(transform);
      continue;
    }
    // Signs and padding are beyond one pass: the transformed matrix is made.
    const at::Tensor of_index =
        kernels::largest_along(kernels::transformed(part, along_, transform), along_).contiguous();
    raise(largest, {of_index.const_data_ptr<float>(), static_cast<std::size_t>(of_index.numel())});
  }
  std::vector<std::vector<float>> found(flat.size() * kParts);
  run(static_cast<std::int64_t>(found.size()), part, [&](std::int64_t task) {
    const auto i = static_cast<std::size_t>(task);
    found[i] = contracted_maxima(part, along_, flat[i / kParts], task % kParts);
  });
  for (std::size_t i = 0; i < found.size(); ++i) raise(by_row_.at(flat[i / kParts]), found[i]);
  for (auto& [transform, largest] : by_index_) {
    const at::Tensor of_part =
        kernels::largest_along(kernels::transformed(part, along_, transform), along_);
    largest = largest.defined() ? at::maximum(largest, of_part) : of_part;
  }
}

float Maxima::of(const Transform& transform) const {
  const std::vector<float>& by_row = by_row_.at(full_transform(transform));
  float largest = 0;
  for (const int row : kernels::kept_rows(flat_transform(transform))) {
    largest = std::max(largest, by_row[static_cast<std::size_t>(row)]);
  }
  return largest;
}

at::Tensor Maxima::by_index(const Transform& transform) const {
  const at::Tensor& all = by_index_.at(full_transform(transform));
  const Transform flat = flat_transform(transform);
  if (flat.kind != Transform::Kind::lowrank) return all;
  const std::vector<int> rows = kernels::kept_rows(flat);
  const std::vector<std::int64_t> kept(rows.begin(), rows.end());
  return all.reshape({-1, flat.order}).index_select(1, at::tensor(kept, at::kLong)).reshape({-1});
}

}  // namespace hot::measure
