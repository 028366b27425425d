#include "analyzers/cost/kept_memory.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "analyzers/measure/resolve.hpp"
#include "backward/replaced_layer.hpp"
#include "kernels/backward.hpp"
#include "kernels/ops.hpp"
#include "kernels/stored.hpp"

namespace hot::cost {
namespace {

/// Schemes that agree in this keep the same bytes of an x with `rows` rows, or none of them does.
auto kind_of(const Scheme& s, std::int64_t rows) {
  const bool patch = s.transform.kind == Transform::Kind::patch;
  return std::make_tuple(s.transform.kind == Transform::Kind::none, s.format_of_other(), s.other,
                         s.outliers > 0, patch ? s.transform.rank : 0,
                         kernels::transformed_length(rows, s.transform));
}

double bytes_of(const at::Tensor& t) {
  return t.defined() ? static_cast<double>(t.storage().nbytes()) : 0;
}

/// The scheme as the layer would have it, as far as bytes depend on it; nullopt where it can't.
std::optional<Scheme> of_layer(const Scheme& scheme, const measure::RowLayout& layout) {
  std::string why_not;
  auto found = measure::resolved(scheme, layout, why_not);
  if (found && !is_resolved(found->transform)) found->transform.basis = Basis::sequency;
  return found;
}

/// What forward really keeps of x by the scheme; 0 where it keeps x itself.
double kept_bytes(const Scheme& scheme, const backward::Operands& o) {
  backward::ReplacedLayer layer({Scheme{}, scheme}, 0, false);
  const bool first = layer.compresses(o.x, o.window);  // KeptX asks in this order
  if (!first && !layer.compresses_unfolded(o.x, o.window)) return 0;
  const auto x = o.x.detach();
  const kernels::Operand operand =
      kernels::stored(first ? layer.prepare_x(x, o.window) : layer.prepare_unfolded_x(x, o.window))
          .operand;
  return bytes_of(operand.values) + bytes_of(operand.scales);
}

}  // namespace

void KeptMemory::add(const backward::Operands& o) {
  if (!o.need_grad_weight || !o.x.defined()) return;
  readers_[o.x.storage().unsafeGetStorageImpl()].insert(o.layer);
  std::vector<double>& kept = kept_[o.layer];
  kept.resize(schemes_.size());
  const std::int64_t cols = o.window.convolution ? o.x.size(1) : o.x.size(-1);
  const std::int64_t rows = cols == 0 ? 0 : o.x.numel() / cols;
  std::map<decltype(kind_of(Scheme{}, rows)), double> known;
  const measure::RowLayout layout = measure::row_layout(o, samples_);
  for (std::size_t i = 0; i < schemes_.size(); ++i) {
    const auto scheme = of_layer(schemes_[i], layout);
    if (!scheme) continue;  // has no row either
    const auto [place, fresh] = known.try_emplace(kind_of(*scheme, rows));
    if (fresh) place->second = kept_bytes(*scheme, o);
    kept[i] += place->second;
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
    const auto scheme = std::find_if(schemes_.begin(), schemes_.end(), [&](const Scheme& s) {
      return s == row.scheme || s == without_layer(row.scheme);
    });
    if (row.path != Path::grad_weight || kept == kept_.end() || scheme == schemes_.end()) continue;
    row.metrics.set("kept_bytes", kept->second[static_cast<std::size_t>(scheme - schemes_.begin())],
                    Origin::measured);
  }
}

}  // namespace hot::cost
