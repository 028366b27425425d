#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "kernels/backward.hpp"
#include "kernels/device_backend.hpp"

// Operands and products of backward.hpp on a device: same integers, same roundings, levels where
// the tensor cores read them.

namespace hot::kernels {

/// Whether the passes make the operand: what is_plain() says, and FP8 numbers as bytes.
[[nodiscard]] bool runs_on_device(const Recipe& recipe);

/// Each recipe's operand of `a`, a 2-D matrix of float32, float16 or bfloat16 with any strides.
[[nodiscard]] std::vector<Operand> device_prepare_all(const DeviceBackend& device,
                                                      const at::Tensor& a,
                                                      std::span<const Recipe> recipes);

/// transformed() by ATen's sums and differences: the CPU's floats.
[[nodiscard]] at::Tensor device_transformed(const at::Tensor& a, Along along,
                                            const Transform& transform);

/// scales_of().
[[nodiscard]] at::Tensor device_scales_of(const DeviceBackend& device,
                                          const at::Tensor& transformed, Format format,
                                          Granularity granularity);

/// Levels of a matrix whose scales are known; `recipe`'s transform is still to be done.
[[nodiscard]] Operand device_quantized(const DeviceBackend& device, const at::Tensor& a,
                                       const Recipe& recipe, const at::Tensor& scales);

/// The levels of an operand with a layout as int8 matrix [rows × cols]; a view unless packed.
[[nodiscard]] at::Tensor device_matrix(const DeviceBackend& device, const Operand& operand);

/// Any int8 matrix of levels as an operand that multiply() takes.
[[nodiscard]] Operand laid_out(const Operand& operand);

/// The scaled product of two operands in an integer format, [free(a), free(b)] float32. Out of
/// memory, it is made in pieces of a's rows; throws c10::OutOfMemoryError where the smallest piece
/// doesn't fit either.
[[nodiscard]] at::Tensor device_product(const DeviceBackend& device, const Operand& a,
                                        const Operand& b, float factor);

/// The same for two operands of FP8 numbers: by the tensor cores where the device has them for
/// these formats, with float32 sums; elsewhere simulated, the numbers multiplied in float32.
[[nodiscard]] at::Tensor device_fp8_product(const DeviceBackend& device, const Operand& a,
                                            const Operand& b, float factor);

/// The exact sums of a product that int32 holds, [free(a), free(b)]; and sums of them, of one scale
/// for each factor, scaled.
[[nodiscard]] at::Tensor device_sums(const DeviceBackend& device, const Operand& a,
                                     const Operand& b);
[[nodiscard]] at::Tensor device_scaled(const DeviceBackend& device, const at::Tensor& sums,
                                       const Operand& a, const Operand& b);

/// Free vectors [first, first + count) of an operand; a view where that keeps whole groups of 16.
[[nodiscard]] Operand free_part(const Operand& operand, std::int64_t first, std::int64_t count);

}  // namespace hot::kernels
