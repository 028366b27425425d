#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/util/Exception.h>

#include <algorithm>

#include "kernels/common/formats.hpp"
#include "kernels/device_operand.hpp"
#include "kernels/fp8_formats.hpp"

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

/// The tensor cores' product. One scale for each factor goes into it; others follow in place.
at::Tensor fp8_product(const DeviceBackend& device, const Operand& a, const Operand& b,
                       float factor) {
  const at::Device where = a.values.device();
  const bool fused = a.scales.numel() == 1 && b.scales.numel() == 1;
  const auto factor_of = [fused](const Operand& o) {
    return Fp8Factor{o.values.const_data_ptr<std::int8_t>(), *o.layout, o.format,
                     fused ? o.scales.const_data_ptr<float>() : nullptr};
  };
  at::Tensor product = at::empty({a.layout->padded_free, b.layout->padded_free},
                                 a.values.options().dtype(at::kFloat));
  const auto bytes = static_cast<std::int64_t>(device.workspace_bytes(where, *a.layout, *b.layout));
  at::Tensor workspace = at::empty({bytes}, a.values.options());
  device.multiply_fp8(where, device.enter(where), factor_of(a), factor_of(b), factor,
                      product.mutable_data_ptr<float>(), workspace.mutable_data_ptr<std::int8_t>());
  product = product.narrow(0, 0, a.layout->free).narrow(1, 0, b.layout->free).contiguous();
  if (!fused) product.mul_(a.scales.unsqueeze(1)).mul_(b.scales);
  return product;
}

at::Tensor simulated_fp8_product(const Operand& a, const Operand& b, float factor) {
  const at::Tensor left = dequantized(a);
  const at::Tensor right = dequantized(b);
  return at::mm(a.along == Along::cols ? left : left.t(),
                b.along == Along::rows ? right : right.t())
      .mul_(factor);
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

namespace {

/// The product of two laid out operands; out of memory, in pieces of the left one's rows.
template <class Whole>
at::Tensor in_pieces(const Operand& left, const Operand& right, const Whole& whole) {
  const std::int64_t rows = left.layout->free;
  const auto options = left.values.options().dtype(at::kFloat);
  if (rows == 0 || right.layout->free == 0 || left.layout->terms == 0)
    return at::zeros({rows, right.layout->free}, options);
  for (std::int64_t step = rows;; step = rounded_up(step / 2, 16)) {
    try {
      if (step >= rows) return whole(left, right);
      at::Tensor product = at::empty({rows, right.layout->free}, options);
      for (std::int64_t first = 0; first < rows; first += step) {
        const std::int64_t count = std::min(step, rows - first);
        product.narrow(0, first, count).copy_(whole(free_part(left, first, count), right));
      }
      return product;
    } catch (const c10::OutOfMemoryError&) {
      if (step <= kLeastRows) throw;
    }
  }
}

}  // namespace

at::Tensor device_product(const DeviceBackend& device, const Operand& a, const Operand& b,
                          float factor) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const c10::DeviceGuard guard(a.values.device());
  Operand left = laid_out(a);
  Operand right = laid_out(b);
  agree(device, left, right);
  return in_pieces(left, right, [&](const Operand& some, const Operand& all) {
    return whole_product(device, some, all, factor);
  });
}

at::Tensor device_fp8_product(const DeviceBackend& device, const Operand& a, const Operand& b,
                              float factor) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const c10::DeviceGuard guard(a.values.device());
  const bool native = device.multiplies_fp8(a.values.device(), a.format, b.format);
  return in_pieces(laid_out(a), laid_out(b), [&](const Operand& some, const Operand& all) {
    return native ? fp8_product(device, some, all, factor)
                  : simulated_fp8_product(some, all, factor);
  });
}

}  // namespace hot::kernels
