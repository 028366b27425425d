#include "analyzers/measure/product.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "analyzers/measure/estimate.hpp"
#include "analyzers/measure/workers.hpp"
#include "core/errors.hpp"
#include "kernels/backward.hpp"

namespace hot::measure {
namespace {

using kernels::Operand;

/// The other factor, prepared once for all schemes that share its format.
struct PreparedOther {
  Operand operand;
  std::vector<double> energy;  ///< contraction_energy()
};

/// A part with one transform as operand of a scheme.
Operand operand_of(const Factor& factor, const at::Tensor& transformed, const Transform& transform,
                   Format format, Granularity granularity, const at::Tensor& scales,
                   Rounding rounding, std::uint64_t seed) {
  if (format == Format::none) {
    return {transformed, {}, factor.along, transform, format, Granularity::tensor};
  }
  return kernels::quantized(transformed, factor.along, transform, format, granularity, scales,
                            rounding, seed);
}

/// Both parts after one transform, with the other factor prepared for a group of schemes.
class Transformed {
 public:
  Transformed(const Product& product, const Transform& transform,
              const std::vector<SchemeMeter*>& meters)
      : gy_(kernels::transformed(product.gy.part, product.gy.along, transform)) {
    const Factor& factor = product.other;
    const at::Tensor part = kernels::transformed(factor.part, factor.along, transform);
    for (const SchemeMeter* meter : meters) {
      const Scheme& scheme = meter->scheme;
      const auto [place, fresh] = others_.try_emplace({scheme.format, scheme.other});
      PreparedOther& other = place->second;
      if (fresh) {
        const at::Tensor scales = part_scales(factor, part, transform, scheme.format, scheme.other);
        other.operand = operand_of(factor, part, transform, scheme.format, scheme.other, scales,
                                   Rounding::nearest, 0);
      }
      if (scheme.rounding == Rounding::stochastic && other.energy.empty()) {
        other.energy = contraction_energy(product, other.operand);
      }
    }
  }

  [[nodiscard]] const at::Tensor& gy() const { return gy_; }
  [[nodiscard]] const PreparedOther& other(const Scheme& scheme) const {
    return others_.at({scheme.format, scheme.other});
  }

 private:
  at::Tensor gy_;
  std::map<std::pair<Format, Granularity>, PreparedOther> others_;
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

  void operator()(const Transformed& transformed, SchemeMeter& meter) const {
    const Scheme& scheme = meter.scheme;
    const PreparedOther& other = transformed.other(scheme);
    const at::Tensor scales = part_scales(product_.gy, transformed.gy(), scheme.transform,
                                          scheme.format, scheme.granularity);
    const bool stochastic = scheme.rounding == Rounding::stochastic;
    const int draws = stochastic ? std::max(1, options_.seeds) : 1;
    NoiseStats::Call call(product_.rows, product_.cols, draws > 1);
    for (int draw = 0; draw < draws; ++draw) {
      const Operand gy = operand_of(product_.gy, transformed.gy(), scheme.transform, scheme.format,
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
    if (stochastic && scheme.format != Format::none) {
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

/// Schemes that share a transform.
struct Group {
  Transform transform;
  std::vector<SchemeMeter*> meters;
  std::unique_ptr<Transformed> parts;  ///< while they are needed
};

std::vector<Group> groups_of(std::vector<SchemeMeter>& meters) {
  std::map<Transform, std::vector<SchemeMeter*>> by_transform;
  for (SchemeMeter& meter : meters) by_transform[meter.scheme.transform].push_back(&meter);
  std::vector<Group> groups;
  for (auto& [transform, members] : by_transform) groups.push_back({transform, members, nullptr});
  return groups;
}

/// Groups whose transformed parts exist at the same time: about 64 MiB of floats.
std::int64_t groups_at_once(const Product& product) {
  constexpr std::int64_t kFloats = 16 << 20;
  const std::int64_t floats = product.gy.part.numel() + product.other.part.numel();
  return std::max<std::int64_t>(1, kFloats / std::max<std::int64_t>(1, floats));
}

void run_groups(std::span<Group> groups, const Product& product, const Run& run) {
  std::vector<std::pair<const Group*, SchemeMeter*>> tasks;
  for (const Group& group : groups) {
    for (SchemeMeter* meter : group.meters) tasks.emplace_back(&group, meter);
  }
  run_tasks(static_cast<std::int64_t>(groups.size()), [&](std::int64_t i) {
    Group& group = groups[static_cast<std::size_t>(i)];
    group.parts = std::make_unique<Transformed>(product, group.transform, group.meters);
  });
  run_tasks(static_cast<std::int64_t>(tasks.size()), [&](std::int64_t i) {
    const auto& [group, meter] = tasks[static_cast<std::size_t>(i)];
    run(*group->parts, *meter);
  });
  for (Group& group : groups) group.parts.reset();
}

}  // namespace

void measure_product(const Product& product, const std::string& layer, const Options& options,
                     std::vector<SchemeMeter>& meters) {
  const at::Tensor exact = exact_block(product);
  const Run run(product, exact, layer, options);
  std::vector<Group> groups = groups_of(meters);
  const auto step = static_cast<std::size_t>(groups_at_once(product));
  for (std::size_t first = 0; first < groups.size(); first += step) {
    const std::size_t count = std::min(step, groups.size() - first);
    run_groups(std::span(groups).subspan(first, count), product, run);
  }
}

}  // namespace hot::measure
