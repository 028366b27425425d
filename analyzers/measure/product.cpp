#include "analyzers/measure/product.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "analyzers/measure/estimate.hpp"
#include "analyzers/measure/workers.hpp"
#include "core/errors.hpp"
#include "kernels/backward.hpp"
#include "kernels/outliers.hpp"
#include "kernels/rounded.hpp"

namespace hot::measure {
namespace {

using kernels::Operand;

/// The other factor, prepared once for all schemes that share its format.
struct PreparedOther {
  Operand operand;
  std::vector<double> energy;  ///< contraction_energy()
};

/// A part that is transformed already as operand of a scheme.
Operand operand_of(const at::Tensor& transformed, kernels::Recipe recipe,
                   const at::Tensor& scales) {
  const bool patch = recipe.transform.kind == Transform::Kind::patch;
  recipe.transform = patch ? Transform{} : flat_transform(recipe.transform);
  if (recipe.format != Format::none) return kernels::rounded(transformed, recipe, scales);
  return {transformed, {}, recipe.along, recipe.transform, Format::none, Granularity::tensor};
}

/// The scheme of what outlier extraction leaves.
Scheme without_extraction(const Scheme& scheme) {
  Scheme rest = scheme;
  rest.outliers = 0;
  return rest;
}

/// What schemes of one group share.
struct Shared {
  Transform transform;
  int outliers = 0;
  friend auto operator<=>(const Shared&, const Shared&) = default;
};

/// Both parts after one transform, with the other factor prepared for a group of schemes.
class Transformed {
 public:
  Transformed(const Product& product, const Shared& shared, const std::vector<SchemeMeter*>& meters)
      : extraction_(shared.outliers > 0 ? &product.extractions.at(shared.outliers) : nullptr),
        maxima_(extraction_ != nullptr ? extraction_->gy : product.gy.maxima) {
    const Maxima& maxima = extraction_ != nullptr ? extraction_->other : product.other.maxima;
    const bool low_passed =
        shared.transform.kind == Transform::Kind::patch && product.path == Path::grad_input;
    gy_ = low_passed ? product.low_passed.at(shared.transform)
                     : transformed(product.gy, shared.transform);
    const at::Tensor part =
        low_passed ? product.other.part : transformed(product.other, shared.transform);
    for (const SchemeMeter* meter : meters) {
      const Scheme scheme = without_extraction(meter->scheme);
      const auto [place, fresh] = others_.try_emplace(key(scheme));
      PreparedOther& other = place->second;
      if (fresh) {
        const kernels::Recipe recipe = kernels::other_recipe(scheme);
        other.operand = operand_of(part, recipe, part_scales(maxima, part, recipe));
      }
      if (scheme.rounding == Rounding::stochastic && other.energy.empty()) {
        other.energy = contraction_energy(product, other.operand);
      }
    }
    if (extraction_ != nullptr) thin_ = thin(product);
  }

  [[nodiscard]] const at::Tensor& gy() const { return gy_; }
  [[nodiscard]] const Maxima& maxima() const { return maxima_; }
  [[nodiscard]] const PreparedOther& other(const Scheme& scheme) const {
    return others_.at(key(scheme));
  }
  /// The float product of the extracted indices; undefined without.
  [[nodiscard]] const at::Tensor& thin() const { return thin_; }

 private:
  using Key = std::tuple<Format, Granularity, int>;
  static Key key(const Scheme& scheme) {
    const bool blocks = scheme.other == Granularity::block;
    return {scheme.format_of_other(), scheme.other, blocks ? scheme.block : 0};
  }

  [[nodiscard]] at::Tensor transformed(const Factor& factor, const Transform& transform) const {
    const at::Tensor part =
        extraction_ == nullptr
            ? factor.part
            : kernels::without_indices(factor.part, factor.along, extraction_->indices);
    return kernels::transformed(part, factor.along, transform);
  }

  [[nodiscard]] at::Tensor thin(const Product& product) const {
    const at::Tensor index = at::tensor(extraction_->indices, at::kLong);
    const auto operand = [&](const Factor& factor) -> Operand {
      const std::int64_t dim = factor.along == kernels::Along::rows ? 0 : 1;
      return {factor.part.index_select(dim, index),
              {},
              factor.along,
              Transform{},
              Format::none,
              Granularity::tensor};
    };
    return estimate(product, operand(product.gy), operand(product.other));
  }

  const Extraction* extraction_;
  const Maxima& maxima_;
  at::Tensor gy_, thin_;
  std::map<Key, PreparedOther> others_;
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
    const Scheme scheme = without_extraction(meter.scheme);
    const PreparedOther& other = transformed.other(scheme);
    kernels::Recipe recipe = kernels::gy_recipe(product_.path, scheme, options_.seed);
    const at::Tensor scales = part_scales(transformed.maxima(), transformed.gy(), recipe);
    const bool stochastic = scheme.rounding == Rounding::stochastic;
    const int draws = stochastic ? std::max(1, options_.seeds) : 1;
    NoiseStats::Call call(product_.rows, product_.cols, draws > 1);
    for (int draw = 0; draw < draws; ++draw) {
      recipe.seed = options_.seed + static_cast<std::uint64_t>(draw);
      at::Tensor block =
          estimate(product_, operand_of(transformed.gy(), recipe, scales), other.operand);
      if (transformed.thin().defined()) block = block.add(transformed.thin());
      call.add_draw({exact_.const_data_ptr<float>(), block.const_data_ptr<float>(), &product_.rows,
                     &product_.cols});
    }
    check_finite(call.sum(), layer_, meter.scheme, product_.path);
    meter.noise.add(call, meter.errors);
    meter.samples += draws;
    meter.entries += exact_.numel();
    if (stochastic && scheme.format != Format::none) {
      meter.noise.add_closed_form(
          rounding_noise(product_, transformed.gy(), scales, recipe, other.energy));
    }
  }

 private:
  const Product& product_;
  const at::Tensor& exact_;
  const std::string& layer_;
  const Options& options_;
};

/// Schemes that share a transform and the indices that they extract.
struct Group {
  Shared shared;
  std::vector<SchemeMeter*> meters;
  std::unique_ptr<Transformed> parts;  ///< while they are needed
};

std::vector<Group> groups_of(std::vector<SchemeMeter>& meters) {
  std::map<Shared, std::vector<SchemeMeter*>> by_shared;
  for (SchemeMeter& meter : meters)
    by_shared[{meter.scheme.transform, meter.scheme.outliers}].push_back(&meter);
  std::vector<Group> groups;
  for (auto& [shared, members] : by_shared) groups.push_back({shared, members, nullptr});
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
    group.parts = std::make_unique<Transformed>(product, group.shared, group.meters);
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
