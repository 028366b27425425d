#include "analyzers/cost/kept_memory.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <tuple>

#include "backward/replaced_layer.hpp"
#include "kernels/backward.hpp"
#include "kernels/ops.hpp"

namespace hot::cost {
namespace {

/// Bytes that the values of one operand take for each element, packed or not.
double bytes_an_element(const Scheme& scheme) {
  const std::int64_t rows = 2 * scheme.transform.order;
  const auto operand = kernels::prepare_x(at::ones({rows, 64}), scheme);
  const auto length = kernels::transformed_length(rows, scheme.transform);
  return static_cast<double>(operand.values.nbytes()) / static_cast<double>(length * 64);
}

double bytes_of(const Scheme& scheme, std::int64_t rows, std::int64_t cols) {
  const auto length = kernels::transformed_length(rows, scheme.transform);
  const double scales = scheme.format == Format::none         ? 0
                        : scheme.other == Granularity::column ? static_cast<double>(cols)
                                                              : 1;
  return bytes_an_element(scheme) * static_cast<double>(length * cols) + 4 * scales;
}

/// All that decides whether forward compresses x.
auto kind_of(const Scheme& s) {
  return std::make_tuple(s.transform.kind == Transform::Kind::none, s.format == Format::none,
                         s.other);
}

}  // namespace

KeptMemory::KeptMemory(const ErrorTable& table) {
  for (const ErrorRow& row : table.rows) {
    if (row.path != Path::grad_weight || row.execution == Execution::simulated) continue;
    if (std::find(schemes_.begin(), schemes_.end(), row.scheme) == schemes_.end()) {
      schemes_.push_back(row.scheme);
    }
  }
}

void KeptMemory::add(const backward::Operands& o) {
  if (!o.need_grad_weight || !o.x.defined()) return;
  readers_[o.x.storage().unsafeGetStorageImpl()].insert(o.layer);
  std::vector<double>& kept = kept_[o.layer];
  kept.resize(schemes_.size());
  const std::int64_t cols = o.window.convolution ? o.x.size(1) : o.x.size(-1);
  const std::int64_t rows = cols == 0 ? 0 : o.x.numel() / cols;
  std::map<decltype(kind_of(Scheme{})), bool> compressed;
  for (std::size_t i = 0; i < schemes_.size(); ++i) {
    const auto [place, fresh] = compressed.try_emplace(kind_of(schemes_[i]));
    if (fresh) {
      backward::ReplacedLayer layer({Scheme{}, schemes_[i]}, 0, false);
      place->second = layer.compresses(o.x, o.window);
    }
    if (place->second) kept[i] += bytes_of(schemes_[i], rows, cols);
  }
}

void KeptMemory::write(ErrorTable& table) const {
  for (const auto& [storage, layers] : readers_) {
    const auto held = held_.find(storage);
    if (held == held_.end()) continue;
    const auto& owners = held->second.owners;
    const bool others = std::any_of(owners.begin(), owners.end(), [&](const std::string& owner) {
      return !layers.contains(owner);
    });
    table.activations.push_back({held->second.bytes, {layers.begin(), layers.end()}, others});
  }
  for (ErrorRow& row : table.rows) {
    const auto kept = kept_.find(row.layer);
    const auto scheme = std::find(schemes_.begin(), schemes_.end(), row.scheme);
    if (row.path != Path::grad_weight || kept == kept_.end() || scheme == schemes_.end()) continue;
    row.metrics.set("kept_bytes", kept->second[static_cast<std::size_t>(scheme - schemes_.begin())],
                    Origin::modelled);
  }
}

}  // namespace hot::cost
