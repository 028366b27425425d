// Every scheme of the grammar against its definition (methods.md, section 2), written plainly in
// float64: dense matrices for the transforms, one element after the other for the numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "kernels/adapted_rows.hpp"
#include "kernels/backward.hpp"
#include "kernels/outliers.hpp"
#include "tests/core/all_schemes.hpp"
#include "tests/kernels/tensors.hpp"

namespace hot::kernels {
namespace {

using Matrix = at::Tensor;  // double

/// H_n by its recursion.
Matrix sylvester(int n) {
  Matrix h = at::ones({1, 1}, at::kDouble);
  while (h.size(0) < n) h = at::cat({at::cat({h, h}, 1), at::cat({h, -h}, 1)}, 0);
  return h;
}

int sign_changes(const Matrix& row) {
  int changes = 0;
  for (std::int64_t i = 1; i < row.size(0); ++i)
    if (row[i].item<double>() != row[i - 1].item<double>()) ++changes;
  return changes;
}

/// Rows of H_n by falling importance in the basis' order, the first `rank`.
Matrix kept_of(const Transform& t, int n, int rank) {
  const Matrix h = sylvester(n);
  if (t.kind != Transform::Kind::lowrank) return h;
  std::vector<std::int64_t> by_sequency(static_cast<std::size_t>(n));
  for (int row = 0; row < n; ++row)
    by_sequency[static_cast<std::size_t>(sign_changes(h[row]))] = row;
  std::vector<int> order;
  for (int s = 0; s < n; ++s) order.push_back(s);
  if (t.basis == Basis::lp_l1) {
    const int side = static_cast<int>(std::lround(std::sqrt(n)));
    const auto distance = [side](int s) {
      return s / side + (s / side % 2 == 0 ? s % side : side - 1 - s % side);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return distance(a) < distance(b); });
  }
  if (t.basis == Basis::energy) std::erase_if(order, [&](int s) { return (t.kept >> s & 1) == 0; });
  std::vector<Matrix> rows;
  for (int i = 0; i < rank; ++i)
    rows.push_back(h[by_sequency[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]]);
  return at::stack(rows);
}

/// The matrix M with M·v what becomes of a contraction of `length`, without 1/n; and n.
struct Dense {
  Matrix matrix;
  double n = 1;
};

Dense dense_transform(const Transform& t, std::int64_t length) {
  if (t.kind == Transform::Kind::none) return {at::eye(length, at::kDouble), 1};
  int n = t.order;
  int rank = t.rank;
  if (t.span == Span::divisor) {
    n = 1;
    while (t.sample_rows % (2 * n) == 0) n *= 2;
    if (n == 1) return {at::eye(length, at::kDouble), 1};
    rank = std::max(1, n * t.rank / t.order);
  }
  const std::int64_t segment = t.span == Span::sample ? t.sample_rows : length;
  const Matrix kept = kept_of(t, n, rank);
  std::vector<Matrix> rows;
  for (std::int64_t start = 0; start < length; start += segment) {
    const std::int64_t end = std::min(length, start + segment);
    for (std::int64_t block = start; block < end; block += n)
      for (std::int64_t k = 0; k < kept.size(0); ++k) {
        Matrix row = at::zeros({length}, at::kDouble);
        for (std::int64_t i = block; i < std::min(end, block + n); ++i) {
          const double sign = t.kind == Transform::Kind::rht ? rht_sign(i) : 1;
          row[i] = kept[k][i - block] * sign;
        }
        rows.push_back(row);
      }
  }
  return {at::stack(rows), static_cast<double>(n)};
}

/// The numbers of a format from zero up, for a scale of 1.
std::vector<double> numbers_of(Format format) {
  std::vector<double> numbers;
  const auto minifloat = [&](int mantissa, int least, double largest) {
    for (int e = least; std::ldexp(1, e) <= largest; ++e)
      for (int m = 0; m < 1 << mantissa; ++m) {
        const double fraction = static_cast<double>(m) / (1 << mantissa);
        if (e == least) numbers.push_back(std::ldexp(fraction, e));
        if (std::ldexp(1 + fraction, e) <= largest) numbers.push_back(std::ldexp(1 + fraction, e));
      }
  };
  if (is_integer(format))
    for (int level = 0; level <= max_level(format); ++level) numbers.push_back(level);
  if (format == Format::fp8e4m3 || format == Format::mxfp8) minifloat(3, -6, 448);
  if (format == Format::fp8e5m2) minifloat(2, -14, 57344);
  if (format == Format::mxfp4 || format == Format::nvfp4) minifloat(1, 0, 6);
  if (format == Format::luq4) numbers = {0, 1, 2, 4, 8, 16, 32, 64};
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// t ≥ 0 to the nearest number; between two of them to the one of even index, which is the even
/// mantissa. LUQ goes down.
double to_nearest(double t, const std::vector<double>& numbers, Format format) {
  std::size_t i = 0;
  while (i + 1 < numbers.size() && numbers[i + 1] <= t) ++i;
  if (i + 1 == numbers.size()) return numbers[i];
  const double down = t - numbers[i];
  const double up = numbers[i + 1] - t;
  if (down == up) return numbers[format == Format::luq4 || i % 2 == 0 ? i : i + 1];
  return down < up ? numbers[i] : numbers[i + 1];
}

/// One operand with its contraction along the rows of `a`, transformed: its numbers.
Matrix quantized_numbers(const Matrix& a, Format format, Granularity granularity, int block,
                         bool free_is_row) {
  if (format == Format::none) return a;
  const std::vector<double> numbers = numbers_of(format);
  const std::int64_t k = a.size(0);
  const std::int64_t free = a.size(1);
  const double top = numbers.back();
  const auto float_scale = [](double largest, double divisor) {
    const float scale = static_cast<float>(largest) / static_cast<float>(divisor);
    return scale == 0 ? 1.0 : static_cast<double>(scale);
  };
  Matrix out = at::empty_like(a);
  const auto from = a.accessor<double, 2>();
  auto to = out.accessor<double, 2>();
  const Matrix magnitudes = a.abs();
  const double tensor_largest = magnitudes.max().item<double>();
  const std::int64_t own = own_block(format);
  // Groups: [row0, row1) × [col0, col1) with one scale.
  const bool by_free = granularity == (free_is_row ? Granularity::row : Granularity::column);
  const std::int64_t rows = own > 0 ? own : granularity == Granularity::block ? block : k;
  const std::int64_t cols = own > 0 || by_free ? 1 : free;
  for (std::int64_t r = 0; r < k; r += rows)
    for (std::int64_t c = 0; c < free; c += cols) {
      const std::int64_t r1 = std::min(k, r + rows);
      const std::int64_t c1 = std::min(free, c + cols);
      const double largest = magnitudes.slice(0, r, r1).slice(1, c, c1).max().item<double>();
      double scale = float_scale(largest, top);
      if (format == Format::mxfp8 || format == Format::mxfp4)
        scale = largest > 0 ? std::exp2(std::floor(std::log2(largest)) - std::floor(std::log2(top)))
                            : 1;
      if (format == Format::nvfp4) {
        const double shared = float_scale(tensor_largest, 6 * 448);
        const double wanted = static_cast<float>(static_cast<float>(largest) / 6 / shared);
        const double code = to_nearest(wanted, numbers_of(Format::fp8e4m3), Format::fp8e4m3);
        scale = static_cast<float>((code > 0 ? code : std::exp2(-9)) * shared);
      }
      for (std::int64_t i = r; i < r1; ++i)
        for (std::int64_t j = c; j < c1; ++j) {
          const double v = from[i][j];
          const double t =
              static_cast<double>(static_cast<float>(std::abs(v)) / static_cast<float>(scale));
          to[i][j] = std::copysign(to_nearest(t, numbers, format) * scale, v);
        }
    }
  return out;
}

/// gy and the other operand with the contraction along their rows → their product, [free × free].
Matrix reference(const Matrix& gy, const Matrix& other, const Scheme& scheme, bool gy_free_is_row) {
  Matrix a = gy;
  Matrix b = other;
  Matrix extracted;
  if (scheme.outliers > 0) {
    const auto stands_out = [](const Matrix& m) {
      const Matrix sorted = std::get<0>(m.abs().amax(1).sort());
      return sorted[-1].item<double>() / sorted[sorted.size(0) / 2].item<double>();
    };
    const Matrix by = (stands_out(b) > stands_out(a) ? b : a).abs().amax(1);
    // Of equal ones the first.
    const Matrix order = std::get<1>(by.sort(/*stable=*/true, 0, /*descending=*/true));
    const Matrix index = order.slice(0, 0, scheme.outliers);
    extracted = at::mm(a.index_select(0, index).t(), b.index_select(0, index));
    a = a.index_fill(0, index, 0);
    b = b.index_fill(0, index, 0);
  }
  const Dense dense = dense_transform(scheme.transform, gy.size(0));
  // The kernels add in float32: the same numbers go to the quantizers.
  const auto transformed = [&](const Matrix& m) {
    return at::mm(dense.matrix, m).to(at::kFloat).to(at::kDouble);
  };
  const Matrix qa = quantized_numbers(transformed(a), scheme.format, scheme.granularity,
                                      scheme.block, gy_free_is_row);
  const Matrix qb = quantized_numbers(transformed(b), scheme.format_of_other(), scheme.other,
                                      scheme.block, false);
  const Matrix product = at::mm(qa.t(), qb) / dense.n;
  return extracted.defined() ? product + extracted : product;
}

/// Numbers whose transforms are exact in float32: multiples of 1/16 up to 2.
at::Tensor short_numbers(std::int64_t rows, std::int64_t cols, unsigned seed) {
  at::Tensor a = (random_tensor(rows, cols, seed) * 8).round().clamp(-32, 32) / 16;
  a.select(0, rows / 3).mul_(8);
  return a;
}

/// Rounded to nearest: every format and granularity with the transforms of order 16, every
/// transform with one format.
std::vector<Scheme> nearest_schemes() {
  std::vector<Scheme> schemes;
  for (Scheme scheme : hot::testing::all_schemes()) {
    const Transform& t = scheme.transform;
    if (t.kind == Transform::Kind::patch || t.order == 1024) continue;
    if (scheme.outliers > 0) scheme.rounding = Rounding::nearest;
    if (scheme.rounding != Rounding::nearest) continue;
    const bool whole =
        t.kind == Transform::Kind::none ||
        (t.order == 16 && t.rank >= 8 && t.rank == (t.kind == Transform::Kind::lowrank ? 8 : 16));
    const bool simple = scheme.format == Format::none || scheme.outliers > 0 ||
                        (scheme.format == Format::int4 && scheme.other == Granularity::tensor &&
                         scheme.granularity == Granularity::tensor);
    if (whole || simple) schemes.push_back(scheme);
  }
  return schemes;
}

// Odd sizes: 98 rows are two samples of 49; 17 channels are no multiple of anything.
TEST(Schemes, EveryLegalSchemeIsItsDefinition) {
  const at::Tensor gy = short_numbers(98, 17, 1);
  const at::Tensor w = short_numbers(17, 5, 2);
  const at::Tensor x = short_numbers(98, 6, 3);
  std::map<Path, int> checked;
  for (const Scheme& scheme : nearest_schemes()) {
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      if (why_illegal(scheme, path)) continue;
      const bool input = path == Path::grad_input;
      const at::Tensor ours = input ? grad_input(gy, w, scheme, 0) : grad_weight(gy, x, scheme, 0);
      const Matrix expected =
          input ? reference(gy.t().to(at::kDouble), w.to(at::kDouble), scheme, true)
                : reference(gy.to(at::kDouble), x.to(at::kDouble), scheme, false);
      EXPECT_LT(relative_difference(ours, expected), 2e-6)
          << to_string(path) << ' ' << to_string(scheme);
      ++checked[path];
    }
  }
  EXPECT_GT(checked[Path::grad_input], 400);
  EXPECT_GT(checked[Path::grad_weight], 800);
}

}  // namespace
}  // namespace hot::kernels
