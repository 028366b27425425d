#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <string_view>

namespace hot::kernels {

/// Libraries that can run an exact int8 product. int_mm: at::_int_mm, which is oneDNN, fast where
/// the CPU multiplies bytes natively. float32: at::mm on integer-valued floats; every partial sum
/// stays under 2^24, where float32 is exact in any order of summation.
enum class IntegerRoute { int_mm, float32 };

struct RouteChoice {
  IntegerRoute route = IntegerRoute::float32;
  std::string reason;  ///< one phrase for reports
};

/// Measures both routes on this CPU and checks that int_mm gives the right integers. A few
/// milliseconds.
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

}  // namespace hot::kernels
