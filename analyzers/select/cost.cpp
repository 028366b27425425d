#include "analyzers/select/cost.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace hot::select {
namespace {

/// Fitted to one figure of design.md, "Toolchain facts": both passes of had16+int8 over an operand
/// take as long as about 36 float operations an element of an FP32 GEMM on the same CPU, 2·(touch +
/// 4) = 36.
constexpr double kTouch = 14;

std::set<Format> emulated;

/// Bits of the instructions that multiply a format.
int multiplied_bits(Format format) {
  return bits(emulated.contains(format) ? Format::int8 : format);
}

/// The transform in flat blocks, as far as it is known here: padding of samples is left out.
Transform blocks_of(const Transform& transform) {
  if (transform.kind == Transform::Kind::patch) return {};
  return transform.span == Span::divisor && is_resolved(transform) ? flat_transform(transform)
                                                                   : transform;
}

double padded(double length, const Transform& transform) {
  const int order = blocks_of(transform).order;
  return std::ceil(length / order) * order;
}

/// Length after the transform, relative to the length before; over 1 where padding outweighs the
/// rank.
double kept_share(double length, const Transform& transform) {
  if (transform.kind == Transform::Kind::patch)
    return transform.rank / (static_cast<double>(transform.order) * transform.order);
  const Transform blocks = blocks_of(transform);
  return padded(length, transform) / length * blocks.rank / blocks.order;
}

/// Bits of an element of a product's factors, as a share of float32: of the wider one.
double width_of(const Scheme& scheme) {
  const int wider =
      std::max(multiplied_bits(scheme.format), multiplied_bits(scheme.format_of_other()));
  return scheme.format == Format::none ? 1.0 : wider / 32.0;
}

double product_cost(const Scheme& scheme, const GemmShape& shape) {
  const auto k = static_cast<double>(shape.k);
  const double thin = std::min(1.0, scheme.outliers / k);
  return kept_share(k, scheme.transform) * width_of(scheme) + thin;
}

/// Passes over operands and result in float operations, one of the `batch` products.
double pass_operations(const Scheme& scheme, const GemmShape& shape) {
  if (scheme.is_exact()) return 0;
  const bool integer = scheme.format != Format::none;
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const double operand =
      (integer ? 2 : 1) * (kTouch + std::log2(blocks_of(scheme.transform).order));
  const double result = integer ? kTouch : 0;
  return operand * (m + n) * padded(static_cast<double>(shape.k), scheme.transform) +
         result * m * n;
}

/// Places of the kernel: how many times longer an unfolded row is than a pixel's channels.
double kernel_places(const LayerTrace& layer) {
  if (layer.kind != LayerKind::conv || layer.weight_shape.size() < 3) return 1;
  return static_cast<double>(std::accumulate(layer.weight_shape.begin() + 2,
                                             layer.weight_shape.end(), std::int64_t{1},
                                             std::multiplies<>()));
}

/// Mean of `value` over the shapes of `work`, weighted by `weight`; 0 without shapes.
template <typename Value, typename Weight>
double weighted_mean(const PathWork& work, Value value, Weight weight) {
  double sum = 0;
  double weights = 0;
  for (const GemmShape& shape : work.gemms) {
    sum += value(shape) * weight(shape);
    weights += weight(shape);
  }
  return weights > 0 ? sum / weights : 0;
}

double operand_elements(const GemmShape& shape) {
  return static_cast<double>(shape.k) * static_cast<double>(shape.n) *
         static_cast<double>(shape.batch);
}

}  // namespace

EmulatedFormats::EmulatedFormats(std::set<Format> formats) {
  emulated = std::move(formats);
}

EmulatedFormats::~EmulatedFormats() {
  emulated.clear();
}

double modelled_cost(const Scheme& scheme, const PathWork& work) {
  return weighted_mean(
      work,
      [&](const GemmShape& shape) {
        const double exact = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                             static_cast<double>(shape.k);
        return product_cost(scheme, shape) + pass_operations(scheme, shape) / exact;
      },
      [](const GemmShape& shape) { return static_cast<double>(shape.flops()); });
}

double modelled_saved_fraction(const Scheme& scheme, const LayerTrace& layer) {
  if (scheme.is_exact()) return 1;
  if (scheme.outliers > 0) return 1;  // which indices leave is known in backward alone
  const double width = scheme.format == Format::none ? 1.0 : 0.25;
  const double kept = weighted_mean(
      layer.path(Path::grad_weight),
      [&](const GemmShape& shape) {
        return kept_share(static_cast<double>(shape.k), scheme.transform);
      },
      operand_elements);
  const double unfolded = kernel_places(layer) * kept * width;
  return kernel_places(layer) > 1 ? std::min(unfolded, width) : unfolded;
}

double input_bytes(const LayerTrace& layer) {
  const PathWork& work = layer.path(Path::grad_weight);
  if (work.gemms.empty()) return 0;
  double elements = 0;
  for (const GemmShape& shape : work.gemms) elements += operand_elements(shape);
  const auto calls = static_cast<double>(work.calls);
  const auto shapes = static_cast<double>(work.gemms.size());
  return 4 * elements / shapes * calls / kernel_places(layer);
}

}  // namespace hot::select
