#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "kernels/common/formats.hpp"
#include "kernels/device_operand.hpp"

namespace hot::kernels {
namespace {

/// Rows of a product below which pieces aren't made smaller.
constexpr std::int64_t kLeastRows = 256;

/// int32 sums [padded_free(a) × padded_free(b)] over terms [first, first + count).
at::Tensor sums_over(const DeviceBackend& device, const Operand& a, const Operand& b,
                     std::int64_t first, std::int64_t count) {
  const LevelLayout left = a.layout->packed ? *a.layout : part_of(*a.layout, first, count);
  const LevelLayout right = b.layout->packed ? *b.layout : part_of(*b.layout, first, count);
  const at::Device where = a.values.device();
  at::Tensor sums =
      at::empty({left.padded_free, right.padded_free}, a.values.options().dtype(at::kInt));
  const auto bytes = static_cast<std::int64_t>(device.workspace_bytes(where, left, right));
  at::Tensor workspace = at::empty({bytes}, a.values.options());
  device.multiply(where, device.enter(where), a.values.const_data_ptr<std::int8_t>() + first, left,
                  b.values.const_data_ptr<std::int8_t>() + first, right,
                  sums.mutable_data_ptr<std::int32_t>(), workspace.mutable_data_ptr<std::int8_t>());
  return sums;
}

/// Sums that int32 can't hold: parts added in float64, where they are exact, and rounded once.
at::Tensor long_product(const DeviceBackend& device, const Operand& a, const Operand& b,
                        std::int64_t most, float factor) {
  at::Tensor total = at::zeros({a.layout->padded_free, b.layout->padded_free},
                               a.values.options().dtype(at::kDouble));
  const std::int64_t terms = a.layout->terms;
  const std::int64_t step = most / 16 * 16;
  for (std::int64_t first = 0; first < terms; first += step)
    total.add_(sums_over(device, a, b, first, std::min(step, terms - first)));
  at::Tensor product =
      total.narrow(0, 0, a.layout->free).narrow(1, 0, b.layout->free).to(at::kFloat);
  return product.mul_(a.scales.mul(factor).unsqueeze(1).mul(b.scales));
}

at::Tensor whole_product(const DeviceBackend& device, const Operand& a, const Operand& b,
                         float factor) {
  const std::int64_t most = exact_terms(max_level(a.format), 31);
  if (a.layout->terms > most) return long_product(device, a, b, most, factor);
  const at::Tensor sums = sums_over(device, a, b, 0, a.layout->terms);
  at::Tensor product =
      at::empty({a.layout->free, b.layout->free}, a.values.options().dtype(at::kFloat));
  device.passes().dequantize(device.enter(a.values.device()), sums.const_data_ptr<std::int32_t>(),
                             b.layout->padded_free, a.layout->free, b.layout->free, factor,
                             a.scales.const_data_ptr<float>(), a.scales.numel(),
                             b.scales.const_data_ptr<float>(), b.scales.numel(), Element::f32,
                             product.mutable_data_ptr<float>(), b.layout->free);
  return product;
}

/// Two operands, both packed or both not.
void agree(const DeviceBackend& device, Operand& a, Operand& b) {
  if (a.layout->packed == b.layout->packed) return;
  for (Operand* o : {&a, &b}) {
    if (!o->layout->packed) continue;
    o->values = device_matrix(device, *o);
    o->layout.reset();
    *o = laid_out(*o);
  }
}

}  // namespace

at::Tensor device_sums(const DeviceBackend& device, const Operand& a, const Operand& b) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const c10::DeviceGuard guard(a.values.device());
  Operand left = laid_out(a);
  Operand right = laid_out(b);
  agree(device, left, right);
  if (left.layout->free == 0 || right.layout->free == 0 || left.layout->terms == 0)
    return at::zeros({left.layout->free, right.layout->free},
                     left.values.options().dtype(at::kInt));
  return sums_over(device, left, right, 0, left.layout->terms)
      .narrow(0, 0, left.layout->free)
      .narrow(1, 0, right.layout->free);
}

at::Tensor device_scaled(const DeviceBackend& device, const at::Tensor& sums, const Operand& a,
                         const Operand& b) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const c10::DeviceGuard guard(sums.device());
  const at::Tensor integers = sums.contiguous();
  at::Tensor product = at::empty(integers.sizes(), integers.options().dtype(at::kFloat));
  const std::int64_t cols = integers.size(1);
  device.passes().dequantize(
      device.enter(sums.device()), integers.const_data_ptr<std::int32_t>(), cols, integers.size(0),
      cols, 1.0F / static_cast<float>(a.transform.order), a.scales.const_data_ptr<float>(), 1,
      b.scales.const_data_ptr<float>(), 1, Element::f32, product.mutable_data_ptr<float>(), cols);
  return product;
}

at::Tensor device_product(const DeviceBackend& device, const Operand& a, const Operand& b,
                          float factor) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const c10::DeviceGuard guard(a.values.device());
  Operand left = laid_out(a);
  Operand right = laid_out(b);
  agree(device, left, right);
  const std::int64_t rows = left.layout->free;
  const auto options = left.values.options().dtype(at::kFloat);
  if (rows == 0 || right.layout->free == 0 || left.layout->terms == 0)
    return at::zeros({rows, right.layout->free}, options);
  for (std::int64_t step = rows;; step = rounded_up(step / 2, 16)) {
    try {
      if (step >= rows) return whole_product(device, left, right, factor);
      at::Tensor product = at::empty({rows, right.layout->free}, options);
      for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        product.narrow(0, first, count)
            .copy_(whole_product(device, free_part(left, first, count), right, factor));
      }
      return product;
    } catch (const c10::OutOfMemoryError&) {
      if (step <= kLeastRows) throw;
    }
  }
}

}  // namespace hot::kernels
