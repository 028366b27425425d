// Exact int8 products by oneDNN's kernels for blocks, which ATen hands out (ATen/native/CPUBlas.h).
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "kernels/integer_gemm.hpp"
#include "kernels/levels.hpp"
#include "kernels/ops.hpp"

namespace hot::kernels {
namespace {

/// Rows of a tile: with kPanel columns its operands' panels stay in a second-level cache up to some
/// thousand terms.
constexpr std::int64_t kTileHeight = 128;
/// Bytes that a thread arranges at once.
constexpr std::int64_t kGrain = 65536;

/// A contiguous matrix of levels, put into another order by several threads.
void arrange(const at::Tensor& matrix, const LevelsOut& out) {
  constexpr std::int64_t kRows = 64;  // a cache line of a column
  const std::int8_t* from = matrix.const_data_ptr<std::int8_t>();
  const std::int64_t parts = (out.rows + kRows - 1) / kRows;
  const std::int64_t grain = 1 + kGrain / std::max<std::int64_t>(1, kRows * out.cols);
  at::parallel_for(0, parts, grain, [&](std::int64_t begin, std::int64_t end) {
    LevelsOut part = out;
    part.first_row = begin * kRows;
    const std::int64_t rows = std::min(out.rows, end * kRows) - part.first_row;
    cpu_ops().arrange(from + part.first_row * out.cols, rows, part);
  });
}

/// Rows of levels, each in one piece; a transposed view is turned.
at::Tensor in_rows(const at::Tensor& left) {
  const std::int64_t k = left.size(1);
  const at::Tensor columns = left.t();
  if (left.is_contiguous() || !columns.is_contiguous()) return left.contiguous();
  at::Tensor turned = at::empty({left.size(0), k}, at::kChar);
  arrange(columns, {turned.mutable_data_ptr<std::int8_t>(), k, left.size(0), Order::columns, 0});
  return turned;
}

/// Zeros behind each row up to whole groups of packed rows: the kernels read no less.
at::Tensor in_whole_groups(const at::Tensor& rows) {
  const std::int64_t k = rows.size(1);
  if (k % kPackedRows == 0) return rows;
  at::Tensor padded = at::zeros({rows.size(0), rounded_up(k, kPackedRows)}, at::kChar);
  padded.narrow(1, 0, k).copy_(rows);
  return padded;
}

void check(const at::Tensor& left, const Packed& right) {
  if (!brgemm_serves()) throw std::logic_error("this CPU has no kernels for packed bytes");
  if (left.dim() != 2 || left.scalar_type() != at::kChar || left.size(1) != right.rows)
    throw std::logic_error("a packed product takes int8 [m, k] and a packed [k, n]");
}

}  // namespace

bool brgemm_serves() {
  return at::native::cpublas::could_pack(at::kChar);
}

BlockProducts::~BlockProducts() {
  at::native::cpublas::brgemm_release();
}

void BlockProducts::sum(std::span<const Term> terms, std::int64_t rows, std::int64_t width,
                        std::int64_t k, std::int64_t stride, std::int32_t* sums) const {
  bool add = false;
  for (const Term& term : terms) {
    at::native::cpublas::brgemm(rows, width, k, stride, width, width, add,
                                reinterpret_cast<const signed char*>(term.left),
                                reinterpret_cast<const signed char*>(term.right), sums);
    add = true;
  }
}

Packed pack(const at::Tensor& matrix) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const at::Tensor plain = matrix.contiguous();
  const std::int64_t rows = plain.size(0);
  const std::int64_t cols = plain.size(1);
  Packed packed{at::empty({packed_bytes(rows, cols)}, at::kChar), rows, cols};
  arrange(plain, {packed.bytes.mutable_data_ptr<std::int8_t>(), rows, cols, Order::packed, 0});
  return packed;
}

at::Tensor unpacked(const Packed& packed) {
  const at::AutoDispatchBelowAutograd no_autograd;
  at::Tensor matrix = at::empty({packed.rows, packed.cols}, at::kChar);
  const std::int8_t* from = packed.bytes.const_data_ptr<std::int8_t>();
  std::int8_t* to = matrix.mutable_data_ptr<std::int8_t>();
  for (std::int64_t r = 0; r < packed.rows; ++r)
    for (std::int64_t c = 0; c < packed.cols; ++c) {
      const std::int64_t panel = c / kPanel;
      const std::int64_t width = panel_width(packed.cols, panel);
      *to++ = from[panel_start(packed.rows, panel) + r / kPackedRows * kPackedRows * width +
                   c % kPanel * kPackedRows + r % kPackedRows];
    }
  return matrix;
}

void over_product_tiles(const at::Tensor& left, const Packed& right,
                        const std::function<void(const IntegerTile&)>& use) {
  check(left, right);
  RECORD_FUNCTION("hot::integer_product", std::vector<c10::IValue>());
  const at::AutoDispatchBelowAutograd no_autograd;
  const at::Tensor a = in_whole_groups(in_rows(left));
  const std::int64_t m = a.size(0);
  const std::int64_t k = a.size(1);
  const std::int64_t panels = (right.cols + kPanel - 1) / kPanel;
  const std::int64_t heights = (m + kTileHeight - 1) / kTileHeight;
  const std::int8_t* rows = a.const_data_ptr<std::int8_t>();
  const std::int8_t* packed = right.bytes.const_data_ptr<std::int8_t>();
  at::parallel_for(0, heights * panels, 1, [&](std::int64_t begin, std::int64_t end) {
    const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(kTileHeight * kPanel);
    const BlockProducts products;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / panels * kTileHeight;
      const std::int64_t panel = i % panels;
      const std::int64_t width = panel_width(right.cols, panel);
      const std::int64_t height = std::min(kTileHeight, m - row);
      const BlockProducts::Term term{rows + row * k, packed + panel_start(right.rows, panel)};
      if (k == 0)
        std::fill_n(sums.get(), height * width, 0);
      else
        products.sum(std::span(&term, 1), height, width, k, k, sums.get());
      use({row, height, panel * kPanel, std::min(width, right.cols - panel * kPanel), sums.get(),
           width});
    }
  });
}

at::Tensor packed_integer_product(const at::Tensor& left, const Packed& right) {
  at::Tensor product = at::empty({left.size(0), right.cols}, at::kInt);
  std::int32_t* to = product.mutable_data_ptr<std::int32_t>();
  over_product_tiles(left, right, [&](const IntegerTile& tile) {
    for (std::int64_t r = 0; r < tile.rows; ++r)
      std::memcpy(to + (tile.row + r) * right.cols + tile.col, tile.sums + r * tile.stride,
                  static_cast<std::size_t>(tile.cols) * sizeof(std::int32_t));
  });
  return product;
}

at::Tensor scaled_packed_product(const at::Tensor& left, const Packed& right, float factor,
                                 const at::Tensor& row_scales, const at::Tensor& col_scales) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const Ops& ops = cpu_ops();
  const float* row_scale = row_scales.const_data_ptr<float>();
  const float* col_scale = col_scales.const_data_ptr<float>();
  const bool by_row = row_scales.numel() != 1;
  const bool by_col = col_scales.numel() != 1;
  at::Tensor product = at::empty({left.size(0), right.cols}, at::kFloat);
  float* to = product.mutable_data_ptr<float>();
  over_product_tiles(left, right, [&](const IntegerTile& tile) {
    ops.dequantize(tile.sums, tile.stride, tile.rows, tile.cols, factor,
                   row_scale + (by_row ? tile.row : 0), by_row ? tile.rows : 1,
                   col_scale + (by_col ? tile.col : 0), by_col ? tile.cols : 1,
                   to + tile.row * right.cols + tile.col, right.cols);
  });
  return product;
}

}  // namespace hot::kernels
