#include "kernels/device_operand.hpp"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <stdexcept>

#include "core/errors.hpp"
#include "kernels/block_product.hpp"
#include "kernels/common/basis.hpp"
#include "kernels/common/formats.hpp"
#include "kernels/fp8_formats.hpp"
#include "kernels/otherwise.hpp"

namespace hot::kernels {
namespace {

Element element_of(at::ScalarType type) {
  if (type == at::kFloat) return Element::f32;
  if (type == at::kHalf) return Element::f16;
  if (type == at::kBFloat16) return Element::bf16;
  throw std::logic_error("an operand on a device is float32, float16 or bfloat16");
}

DeviceMatrix view_of(const at::Tensor& a) {
  if (!a.defined() || a.dim() != 2 || a.layout() != at::kStrided || a.is_neg())
    throw std::logic_error("an operand is a dense 2-D matrix");
  return {a.const_data_ptr(), element_of(a.scalar_type()), a.size(0), a.size(1), a.stride(0),
          a.stride(1)};
}

std::int64_t scales_count(Granularity granularity, const LevelLayout& layout) {
  return granularity == Granularity::tensor ? 1 : layout.free;
}

/// The whole matrix's scales: one pass for the magnitudes, and one over them.
at::Tensor scales_by(const DeviceBackend& device, const at::Tensor& a, const Recipe& recipe,
                     std::int64_t count) {
  const c10::DeviceGuard guard(a.device());
  void* stream = device.enter(a.device());
  at::Tensor scales = at::zeros({count}, a.options().dtype(at::kFloat));
  float* values = scales.mutable_data_ptr<float>();
  device.passes().transform_abs_max(stream, view_of(a), recipe.along, recipe.transform,
                                    scale_group(recipe.granularity, recipe.along), values);
  device.passes().make_scales(stream, values, count, recipe.format);
  return scales;
}

LevelLayout layout_for(const at::Tensor& a, const Recipe& recipe) {
  return level_layout(a.size(0), a.size(1), recipe.along, recipe.transform,
                      recipe.format == Format::int4);
}

Operand prepared(const DeviceBackend& device, const at::Tensor& a, const Recipe& recipe) {
  if (recipe.format == Format::none)
    return {device_transformed(a, recipe.along, recipe.transform),
            at::Tensor(),
            recipe.along,
            recipe.transform,
            recipe.format,
            recipe.granularity};
  const LevelLayout layout = layout_for(a, recipe);
  Operand operand = device_quantized(
      device, a, recipe, scales_by(device, a, recipe, scales_count(recipe.granularity, layout)));
  return recipe.as_floats && is_integer(recipe.format) ? as_floats(operand) : operand;
}

}  // namespace

bool runs_on_device(const Recipe& recipe) {
  Recipe plain = recipe;
  plain.as_floats = false;
  if (is_fp8(recipe.format)) plain.format = Format::int8;  // bytes too
  return is_plain(plain);
}

std::vector<Operand> device_prepare_all(const DeviceBackend& device, const at::Tensor& a,
                                        std::span<const Recipe> recipes) {
  const at::AutoDispatchBelowAutograd no_autograd;
  std::vector<Operand> operands;
  for (const Recipe& recipe : recipes) {
    if (!runs_on_device(recipe))
      throw UsageError(
          "the plan has a scheme that runs on the CPU alone: signs, samples, patches, blocks of "
          "scales, simulated formats but FP8, or outlier extraction; run with --device cpu");
    operands.push_back(prepared(device, a, recipe));
  }
  return operands;
}

at::Tensor device_transformed(const at::Tensor& a, Along along, const Transform& transform) {
  const at::AutoDispatchBelowAutograd no_autograd;
  if (transform.kind == Transform::Kind::none) return a.to(at::kFloat).contiguous();
  const std::int64_t n = transform.order;
  at::Tensor v = (along == Along::rows ? a : a.t()).to(at::kFloat);
  const std::int64_t blocks = (v.size(0) + n - 1) / n;
  const std::int64_t free = v.size(1);
  v = at::constant_pad_nd(v, {0, 0, 0, blocks * n - v.size(0)}).contiguous();
  for (std::int64_t d = 1; d < n; d *= 2) {
    const at::Tensor pairs = v.view({blocks * n / (2 * d), 2, d, free});
    const at::Tensor low = pairs.select(1, 0);
    const at::Tensor high = pairs.select(1, 1);
    v = at::stack({low + high, low - high}, 1);
  }
  v = v.view({blocks, n, free});
  if (transform.kind == Transform::Kind::lowrank) {
    std::vector<at::Tensor> kept;  // by views: a table would have to be copied from the host
    for (const int row : kept_rows(transform)) kept.push_back(v.select(1, row));
    v = at::stack(kept, 1);
  }
  v = v.reshape({blocks * v.size(1), free});
  return along == Along::rows ? v : v.t().contiguous();
}

at::Tensor device_scales_of(const DeviceBackend& device, const at::Tensor& transformed,
                            Format format, Granularity granularity) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const Along along = granularity == Granularity::row ? Along::cols : Along::rows;
  const std::int64_t count = granularity == Granularity::tensor ? 1
                             : granularity == Granularity::row  ? transformed.size(0)
                                                                : transformed.size(1);
  return scales_by(device, transformed, {along, Transform{}, format, granularity}, count);
}

Operand device_quantized(const DeviceBackend& device, const at::Tensor& a, const Recipe& recipe,
                         const at::Tensor& scales) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const LevelLayout layout = layout_for(a, recipe);
  if (scales.dim() != 1 || scales.scalar_type() != at::kFloat || !scales.is_contiguous() ||
      scales.numel() != scales_count(recipe.granularity, layout))
    throw std::logic_error("scales are a contiguous float32 vector, one for each group");
  const c10::DeviceGuard guard(a.device());
  void* stream = device.enter(a.device());
  Operand operand{at::empty({layout.bytes()}, a.options().dtype(at::kChar)),
                  scales,
                  recipe.along,
                  recipe.transform,
                  recipe.format,
                  recipe.granularity};
  operand.layout = layout;
  device.passes().transform_quantize(stream, view_of(a), recipe.along, recipe.transform,
                                     recipe.format, scale_group(recipe.granularity, recipe.along),
                                     scales.const_data_ptr<float>(), {recipe.rounding, recipe.seed},
                                     layout.packed, operand.values.mutable_data_ptr<std::int8_t>());
  return operand;
}

at::Tensor device_matrix(const DeviceBackend& device, const Operand& operand) {
  const at::AutoDispatchBelowAutograd no_autograd;
  const LevelLayout& layout = *operand.layout;
  at::Tensor bytes = operand.values;
  if (layout.packed) {
    const c10::DeviceGuard guard(bytes.device());
    void* stream = device.enter(bytes.device());
    bytes = at::empty({2 * layout.bytes()}, bytes.options());
    device.passes().unpack(stream, operand.values.const_data_ptr<std::int8_t>(), layout.bytes(),
                           bytes.mutable_data_ptr<std::int8_t>());
  }
  const std::int64_t pitch = layout.packed ? 2 * layout.pitch : layout.pitch;
  const at::Tensor vectors =
      bytes.view({layout.padded_free, pitch}).narrow(0, 0, layout.free).narrow(1, 0, layout.terms);
  return operand.along == Along::cols ? vectors : vectors.t();
}

Operand laid_out(const Operand& operand) {
  if (operand.layout) return operand;
  const at::AutoDispatchBelowAutograd no_autograd;
  const at::Tensor& m = operand.values;
  Operand result = operand;
  const LevelLayout layout = level_layout(m.size(0), m.size(1), operand.along, Transform{}, false);
  const at::Tensor vectors = at::zeros({layout.padded_free, layout.pitch}, m.options());
  vectors.narrow(0, 0, layout.free)
      .narrow(1, 0, layout.terms)
      .copy_(operand.along == Along::cols ? m : m.t());
  result.values = vectors.view({-1});
  result.layout = layout;
  return result;
}

Operand free_part(const Operand& operand, std::int64_t first, std::int64_t count) {
  Operand part = operand;
  LevelLayout& layout = *part.layout;
  layout.free = count;
  layout.padded_free = rounded_up(count, 16);
  const std::int64_t rows = operand.layout->padded_free - first;
  part.values = operand.values.narrow(0, first * layout.pitch,
                                      std::min(rows, layout.padded_free) * layout.pitch);
  // Products read whole groups of 16 vectors, from a multiple of 16 bytes: pitches are such.
  if (rows < layout.padded_free)
    part.values = at::constant_pad_nd(part.values, {0, (layout.padded_free - rows) * layout.pitch});
  if (part.scales.defined() && part.scales.numel() > 1)
    part.scales = part.scales.narrow(0, first, count);
  return part;
}

}  // namespace hot::kernels
