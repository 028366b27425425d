#include "analyzers/measure/layer_meter.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analyzers/measure/kendall.hpp"
#include "analyzers/measure/operand_facts.hpp"
#include "analyzers/measure/portfolio.hpp"
#include "analyzers/measure/resolve.hpp"

namespace hot::measure {
namespace {

std::vector<SchemeMeter> meters_of(const std::vector<Scheme>& schemes) {
  std::vector<SchemeMeter> meters;
  for (const Scheme& scheme : schemes) meters.push_back({.scheme = scheme});
  return meters;
}

/// How alike the minibatches rank the schemes by error: mean Kendall's tau over pairs of them.
std::optional<double> ranking_tau(const std::vector<SchemeMeter>& meters) {
  std::vector<std::vector<double>> rankings;
  for (const SchemeMeter& meter : meters) {
    const std::vector<double> errors = meter.errors.batch_errors();
    rankings.resize(std::max(rankings.size(), errors.size()));
    for (std::size_t batch = 0; batch < errors.size(); ++batch) {
      rankings[batch].push_back(errors[batch]);
    }
  }
  return mean_tau(rankings);
}

ErrorRow row_of(const std::string& layer, Path path, const SchemeMeter& meter, int calls) {
  const Execution execution = is_simulated(meter.scheme) ? Execution::simulated : Execution::native;
  ErrorRow row{layer, path, meter.scheme, execution, {}};
  meter.errors.write(row.metrics);
  if (meter.scheme.rounding == Rounding::stochastic) {
    meter.noise.write(row.metrics, meter.errors.exact_squared());
  }
  row.metrics.set("samples", static_cast<double>(meter.samples), Origin::measured);
  row.metrics.set("entries", static_cast<double>(meter.entries) / calls, Origin::measured);
  return row;
}

}  // namespace

LayerMeter::LayerMeter(std::string layer, const std::vector<Scheme>& schemes,
                       const Options& options)
    : layer_(std::move(layer)), options_(options) {
  for (auto* path : {&grad_input_, &grad_weight_}) {
    path->path = path == &grad_input_ ? Path::grad_input : Path::grad_weight;
    path->schemes = legal_schemes(schemes, path->path);
    path->meters = meters_of(path->schemes);
  }
}

void LayerMeter::add(const backward::Operands& operands) {
  OutputGradient gy;
  gy.matrix = backward::gy_matrix(operands).contiguous();
  gy.energies = energies(gy.matrix);
  check_operand(gy.energies.total(), operands, "the gradient of its output (gy)");
  if (gy.energies.total() > 0) {
    any_gradient_ = true;
    const LqsErrors errors = lqs_errors(gy.matrix);
    lqs_.tensor += errors.tensor;
    lqs_.row += errors.row;
  }
  if (operands.need_grad_input) add(operands, gy, grad_input_);
  if (operands.need_grad_weight) add(operands, gy, grad_weight_);
  ++calls_;
}

void LayerMeter::add(const backward::Operands& operands, const OutputGradient& gy,
                     PathMeter& path) {
  ++path.calls;
  if (gy.energies.total() == 0) {
    ++path.zero_calls;
    return;
  }
  if (!path.resolved) resolve(operands, path);
  const auto make = path.path == Path::grad_input ? grad_input_product : grad_weight_product;
  const Product product = make(operands, gy, path.schemes, options_,
                               options_.seed + static_cast<std::uint64_t>(calls_));
  if (product.rows.index.empty() || product.cols.index.empty()) {
    ++path.zero_calls;
    return;
  }
  for (std::size_t i = 0; i < path.meters.size(); ++i)
    path.schemes[i] = path.meters[i].scheme = with_energy_rows(path.meters[i].scheme, product);
  if (path.operands.empty()) path.operands = operand_facts(product, gy.energies);
  measure_product(product, layer_, options_, path.meters);
}

void LayerMeter::resolve(const backward::Operands& operands, PathMeter& path) {
  const RowLayout layout = row_layout(operands, options_.samples);
  std::vector<Scheme> schemes;
  for (const Scheme& scheme : path.schemes) {
    std::string why_not;
    const auto found = resolved(scheme, layout, why_not);
    if (!found) {
      path.notes.push_back(fmt::format("{}, {}: {} was left out: {}.", layer_, to_string(path.path),
                                       to_string(scheme), why_not));
      continue;
    }
    if (has_no_effect(found->transform)) {
      path.notes.push_back(
          fmt::format("{}, {}: the transform of {} has no effect: n collapses to 1 with {} rows a "
                      "sample.",
                      layer_, to_string(path.path), to_string(scheme), layout.sample_rows));
    }
    schemes.push_back(*found);
  }
  path.schemes = schemes;
  path.meters = meters_of(schemes);
  path.resolved = true;
}

void LayerMeter::end_batch() {
  ++batches_;
  for (auto* path : {&grad_input_, &grad_weight_}) {
    for (SchemeMeter& meter : path->meters) {
      meter.errors.end_batch();
      meter.noise.end_batch();
    }
  }
}

void LayerMeter::write(const PathMeter& path, ErrorTable& table) const {
  table.notes.insert(table.notes.end(), path.notes.begin(), path.notes.end());
  if (path.calls == 0 || path.meters.empty()) return;
  if (path.meters.front().errors.zero_gradient()) {
    table.notes.push_back(fmt::format("{}: {} is exactly zero in every call, nothing to compare.",
                                      layer_, to_string(path.path)));
    return;
  }
  if (path.zero_calls > 0) {
    table.notes.push_back(fmt::format("{}: {} is exactly zero in {} of {} calls.", layer_,
                                      to_string(path.path), path.zero_calls, path.calls));
  }
  const int calls = path.calls - path.zero_calls;
  for (const SchemeMeter& meter : path.meters) {
    table.rows.push_back(row_of(layer_, path.path, meter, calls));
  }
}

void LayerMeter::write(ErrorTable& table) const {
  write(grad_input_, table);
  write(grad_weight_, table);
  LayerFacts facts{layer_, {}};
  if (!grad_input_.meters.empty() && batches_ > 0) {
    const double squared = grad_input_.meters.front().errors.exact_squared() / batches_;
    facts.metrics.set("input_norm", std::sqrt(squared), Origin::measured);
  }
  for (const auto* path : {&grad_input_, &grad_weight_}) {
    facts.operands.insert(facts.operands.end(), path->operands.begin(), path->operands.end());
    const char* name = path->path == Path::grad_input ? "input_tau" : "weight_tau";
    if (const auto tau = ranking_tau(path->meters)) facts.metrics.set(name, *tau, Origin::measured);
  }
  table.facts.push_back(std::move(facts));
  if (any_gradient_) {
    table.lqs.push_back({layer_, std::sqrt(lqs_.tensor), std::sqrt(lqs_.row)});
  }
}

}  // namespace hot::measure
