#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hot::kernels {

/// Libraries that can run an exact int8 product. brgemm: oneDNN's kernels for products of blocks,
/// by ATen, in tiles that are scaled while they are in cache; where they read packed bytes (AMX).
/// int_mm: at::_int_mm, which is oneDNN, fast where the CPU multiplies bytes natively. float32:
/// at::mm on integer-valued floats; every partial sum stays under 2^24, where float32 is exact in
/// any order of summation.
enum class IntegerRoute { brgemm, int_mm, float32 };

struct RouteChoice {
  IntegerRoute route = IntegerRoute::float32;
  std::string reason;  ///< one phrase for reports
};

/// Measures the routes on this CPU and checks that their integers are right. A few milliseconds.
[[nodiscard]] RouteChoice probe_integer_routes();

/// The route that `forced` names, else the probe's. Throws UsageError for an unknown name.
[[nodiscard]] RouteChoice choose_integer_route(std::string_view forced);

/// The choice in force: HOT_INT_GEMM or the probe, made once a process.
[[nodiscard]] const RouteChoice& integer_route();

/// int8 [m×k] · int8 [k×n] → int32 [m×n] by `route`; any strides, any of m, k, n may be 0.
/// Throws std::logic_error where k · largest² exceeds int32.
[[nodiscard]] at::Tensor integer_gemm_by(IntegerRoute route, const at::Tensor& a,
                                         const at::Tensor& b, int largest);

/// The same product as the scaled float32 [m×n]: (a·b)[i][j] · factor · row_scales[i or 0] ·
/// col_scales[j or 0]. The exact sum is rounded once, whatever the route; k is split where int32
/// would overflow.
[[nodiscard]] at::Tensor scaled_integer_product(IntegerRoute route, const at::Tensor& a,
                                                const at::Tensor& b, int largest, float factor,
                                                const at::Tensor& row_scales,
                                                const at::Tensor& col_scales);

/// A matrix [rows × cols] of levels in packed order (levels.hpp).
struct Packed {
  at::Tensor bytes;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

/// An int8 matrix of any strides, packed; and back.
[[nodiscard]] Packed pack(const at::Tensor& matrix);
[[nodiscard]] at::Tensor unpacked(const Packed& packed);

/// True where oneDNN's kernels take packed bytes on this CPU.
[[nodiscard]] bool brgemm_serves();

/// Sums of products of blocks in one thread; where brgemm_serves().
class BlockProducts {
 public:
  /// A block of rows of levels, and the panel of a packed matrix that it meets.
  struct Term {
    const std::int8_t* left;
    const std::int8_t* right;
  };

  BlockProducts() = default;
  BlockProducts(const BlockProducts&) = delete;
  BlockProducts& operator=(const BlockProducts&) = delete;
  ~BlockProducts();

  /// sums [rows × width] = Σ left [rows × k] · right [k × width] over the terms, at least one. k is
  /// a multiple of kPackedRows; left's rows are `stride` bytes apart.
  void sum(std::span<const Term> terms, std::int64_t rows, std::int64_t width, std::int64_t k,
           std::int64_t stride, std::int32_t* sums) const;
};

/// A tile of the exact product: rows [row, row + rows) and columns [col, col + cols), row-major,
/// `stride` integers a row.
struct IntegerTile {
  std::int64_t row, rows, col, cols;
  const std::int32_t* sums;
  std::int64_t stride;
};

/// Calls use(tile) for tiles that together are left [m×k] · right [k×n], from several threads, each
/// tile still in cache. k · 127² must not exceed int32 (exact_terms()). Throws std::logic_error
/// where sizes differ or !brgemm_serves().
void over_product_tiles(const at::Tensor& left, const Packed& right,
                        const std::function<void(const IntegerTile&)>& use);

/// The product itself, int32 [m×n], by such tiles.
[[nodiscard]] at::Tensor packed_integer_product(const at::Tensor& left, const Packed& right);

/// scaled_integer_product() by such tiles.
[[nodiscard]] at::Tensor scaled_packed_product(const at::Tensor& left, const Packed& right,
                                               float factor, const at::Tensor& row_scales,
                                               const at::Tensor& col_scales);

}  // namespace hot::kernels
