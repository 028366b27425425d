#include "ops/planned_layer.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "core/rounding_seed.hpp"

namespace hot::ops {
namespace {

Scheme scheme_of(const std::string& layer, const std::string& text, Path path) {
  try {
    const Scheme scheme = parse_scheme(text);
    if (const auto why = why_illegal(scheme, path)) throw UsageError(*why);
    if (const auto why = why_unresolved(scheme)) throw UsageError(*why);
    return scheme;
  } catch (const UsageError& error) {
    throw UsageError(
        fmt::format("layer '{}', {} '{}': {}", layer, to_string(path), text, error.what()));
  }
}

}  // namespace

PlannedLayer::PlannedLayer(std::string name, const std::string& grad_input,
                           const std::string& grad_weight, std::int64_t seed)
    : name_(std::move(name)) {
  const backward::LayerSchemes schemes{scheme_of(name_, grad_input, Path::grad_input),
                                       scheme_of(name_, grad_weight, Path::grad_weight)};
  layer_ = std::make_shared<backward::ReplacedLayer>(
      schemes, layer_seed(static_cast<std::uint64_t>(seed), name_), false);
}

std::tuple<std::int64_t, std::int64_t> PlannedLayer::runs() const {
  const backward::LayerRuns runs = layer_->runs();
  return {runs.grad_input, runs.grad_weight};
}

}  // namespace hot::ops
