#include "analyzers/measure/product.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "analyzers/measure/estimate.hpp"
#include "core/errors.hpp"
#include "kernels/backward.hpp"

namespace hot::measure {
namespace {

using kernels::Operand;

/// The other factor, prepared once for all schemes that share its format.
struct PreparedOther {
  Operand operand;
  std::vector<double> energy;  ///< filled where a stochastic scheme needs it
};

/// Both parts after one transform, and what was made of the other factor so far.
class Transformed {
 public:
  Transformed(const Product& product, const Transform& transform)
      : product_(product),
        transform_(transform),
        gy_(kernels::transformed(product.gy.part, product.gy.along, transform)),
        other_(kernels::transformed(product.other.part, product.other.along, transform)) {}

  [[nodiscard]] const at::Tensor& gy() const { return gy_; }

  PreparedOther& other(Format format, Granularity granularity) {
    const auto [place, fresh] = prepared_.try_emplace({format, granularity});
    if (fresh) {
      at::Tensor scales;
      if (format != Format::none) {
        scales = part_scales(product_.other, other_, transform_, format, granularity);
      }
      place->second.operand =
          quantize(product_.other, other_, format, granularity, scales, Rounding::nearest, 0);
    }
    return place->second;
  }

  [[nodiscard]] Operand quantize(const Factor& factor, const at::Tensor& transformed, Format format,
                                 Granularity granularity, const at::Tensor& scales,
                                 Rounding rounding, std::uint64_t seed) const {
    if (format == Format::none) {
      return {transformed, {}, factor.along, transform_, format, Granularity::tensor};
    }
    return kernels::quantized(transformed, factor.along, transform_, format, granularity, scales,
                              rounding, seed);
  }

 private:
  const Product& product_;
  Transform transform_;
  at::Tensor gy_;
  at::Tensor other_;
  std::map<std::pair<Format, Granularity>, PreparedOther> prepared_;
};

void check_finite(const Triple& sums, const std::string& layer, const Scheme& scheme, Path path) {
  if (std::all_of(sums.begin(), sums.end(), [](double v) { return std::isfinite(v); })) return;
  throw ModelError(fmt::format(
      "layer {}: {} by {} isn't finite; its operands are too large for float32 sums, scale the "
      "loss down",
      layer, to_string(path), to_string(scheme)));
}

/// One scheme on one product.
class Run {
 public:
  Run(const Product& product, const at::Tensor& exact, const std::string& layer,
      const Options& options)
      : product_(product), exact_(exact), layer_(layer), options_(options) {}

  void operator()(Transformed& transformed, SchemeMeter& meter) const {
    const Scheme& scheme = meter.scheme;
    PreparedOther& other = transformed.other(scheme.format, scheme.other);
    at::Tensor scales;
    if (scheme.format != Format::none) {
      scales = part_scales(product_.gy, transformed.gy(), scheme.transform, scheme.format,
                           scheme.granularity);
    }
    const bool stochastic =
        scheme.rounding == Rounding::stochastic && scheme.format != Format::none;
    const int draws = stochastic ? std::max(1, options_.seeds) : 1;
    NoiseStats::Call call(product_.rows, product_.cols, draws > 1);
    for (int draw = 0; draw < draws; ++draw) {
      const Operand gy = transformed.quantize(product_.gy, transformed.gy(), scheme.format,
                                              scheme.granularity, scales, scheme.rounding,
                                              options_.seed + static_cast<std::uint64_t>(draw));
      const at::Tensor block = estimate(product_, gy, other.operand);
      call.add_draw({exact_.const_data_ptr<float>(), block.const_data_ptr<float>(), &product_.rows,
                     &product_.cols});
    }
    check_finite(call.sum(), layer_, scheme, product_.path);
    meter.noise.add(call, meter.errors);
    meter.samples += draws;
    meter.entries += exact_.numel();
    if (stochastic) {
      if (other.energy.empty()) other.energy = contraction_energy(product_, other.operand);
      meter.noise.add_closed_form(rounding_noise(product_, transformed.gy(), scales, scheme.format,
                                                 scheme.granularity, other.energy));
    }
  }

 private:
  const Product& product_;
  const at::Tensor& exact_;
  const std::string& layer_;
  const Options& options_;
};

}  // namespace

void measure_product(const Product& product, const std::string& layer, const Options& options,
                     std::vector<SchemeMeter>& meters) {
  const at::Tensor exact = exact_block(product);
  const Run run(product, exact, layer, options);
  std::map<Transform, std::vector<SchemeMeter*>> by_transform;
  for (SchemeMeter& meter : meters) by_transform[meter.scheme.transform].push_back(&meter);
  for (const auto& [transform, group] : by_transform) {
    Transformed transformed(product, transform);
    for (SchemeMeter* meter : group) run(transformed, *meter);
  }
}

}  // namespace hot::measure
