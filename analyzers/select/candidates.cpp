#include "analyzers/select/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzers/select/cost.hpp"
#include "analyzers/select/policies.hpp"

namespace hot::select {
namespace {

/// Of a product whose exact time wasn't measured: one unit a GFLOP.
constexpr double kModelledMsPerFlop = 1e-9;

const char* exact_name(Path path) {
  return path == Path::grad_input ? "exact_input_ms" : "exact_weight_ms";
}

const char* share_name(Path path) {
  return path == Path::grad_input ? "input_share" : "weight_share";
}

double factor_of(const Correction& correction, const std::string& layer) {
  double factor = correction.time;
  for (const Correction::Layer& l : correction.layers) {
    if (l.name == layer) factor *= l.time;
  }
  return factor;
}

/// Everything that one option needs to beat another.
bool beats(const Option& a, const Option& b) {
  if (a.time > b.time || a.error > b.error || a.bytes > b.bytes || (b.releases && !a.releases)) {
    return false;
  }
  return a.time < b.time || a.error < b.error || a.bytes < b.bytes || a.releases != b.releases;
}

class Builder {
 public:
  Builder(const Trace& trace, const ErrorTable& errors, const Options& options,
          const Correction& correction)
      : errors_(errors), options_(options), correction_(correction) {
    for (const LayerTrace& layer : trace.layers) {
      if (!layer.eligible) continue;
      for (const Path path : {Path::grad_input, Path::grad_weight}) {
        flops_ += static_cast<double>(layer.path(path).flops);
      }
    }
    for (const ErrorRow& row : errors.rows) {
      if (row.scheme.is_exact() || why_illegal(row.scheme, row.path)) continue;
      rows_[{row.layer, row.path}].push_back(&row);
    }
  }

  Gradient gradient(const LayerTrace& layer, Path path) {
    Gradient g{&layer, path, {}, {Scheme{}}, {0}, {Option{}}};
    const PathWork& work = layer.path(path);
    const Metric* exact = errors_.fact(layer.name, exact_name(path));
    if (exact == nullptr) g.time_origin = Origin::modelled;
    const double exact_ms =
        exact != nullptr ? exact->value : static_cast<double>(work.flops) * kModelledMsPerFlop;
    g.options[0].time = work.flops == 0 ? 0 : exact_ms;
    const auto& rows = rows_[{layer.name, path}];
    g.only_exact = why_only_exact(layer, path, rows, options_);
    if (!g.only_exact.empty()) return g;
    const double factor = factor_of(correction_, layer.name);
    const double error_factor =
        correction_.error * (path == Path::grad_input ? correction_.input_error : 1);
    for (const ErrorRow* row : rows) {
      if (row->execution == Execution::simulated && !options_.simulated) continue;
      if (!std::isfinite(largest_error(*row))) continue;
      const Metric* time = row->metrics.find("time_ms");
      const Metric* bytes = row->metrics.find("kept_bytes");
      const double error = error_factor * row->metrics.value("relative_error");
      Option option;
      option.time =
          factor * (time != nullptr ? time->value : exact_ms * modelled_cost(row->scheme, work));
      option.error = error * error * share(layer, path);
      option.bytes = bytes != nullptr ? bytes->value : 0;
      option.releases = option.bytes > 0;
      g.schemes.push_back(row->scheme);
      g.errors.push_back(error);
      g.options.push_back(option);
    }
    leave_out_beaten(g);
    return g;
  }

 private:
  double share(const LayerTrace& layer, Path path) const {
    if (const Metric* share = errors_.fact(layer.name, share_name(path))) return share->value;
    return static_cast<double>(layer.path(path).flops) / flops_;
  }

  static void leave_out_beaten(Gradient& g) {
    const auto [hot, hlq] = std::pair{preset_schemes("hot", g.path), preset_schemes("hlq", g.path)};
    Gradient kept = g;
    kept.schemes.clear();
    kept.errors.clear();
    kept.options.clear();
    for (std::size_t i = 0; i < g.options.size(); ++i) {
      const bool beaten = std::any_of(g.options.begin(), g.options.end(),
                                      [&](const Option& o) { return beats(o, g.options[i]); });
      const bool named = std::find(hot.begin(), hot.end(), g.schemes[i]) != hot.end() ||
                         std::find(hlq.begin(), hlq.end(), g.schemes[i]) != hlq.end();
      if (i > 0 && beaten && !named) continue;
      kept.schemes.push_back(g.schemes[i]);
      kept.errors.push_back(g.errors[i]);
      kept.options.push_back(g.options[i]);
    }
    g = std::move(kept);
  }

  const ErrorTable& errors_;
  const Options& options_;
  const Correction& correction_;
  double flops_ = 0;
  std::map<std::pair<std::string, Path>, std::vector<const ErrorRow*>> rows_;
};

}  // namespace

WholePlan whole_plan(const Trace& trace, const ErrorTable& errors, const Options& options,
                     const Correction& correction) {
  WholePlan whole;
  Builder builder(trace, errors, options, correction);
  std::map<std::string, std::size_t> weight_group;
  for (const LayerTrace& layer : trace.layers) {
    if (!layer.eligible) continue;
    for (const Path path : {Path::grad_input, Path::grad_weight}) {
      if (path == Path::grad_weight) weight_group[layer.name] = whole.gradients.size();
      whole.gradients.push_back(builder.gradient(layer, path));
      whole.problem.groups.push_back(whole.gradients.back().options);
    }
  }
  for (const KeptActivation& activation : errors.activations) {
    if (activation.held_by_others) continue;
    Release release{static_cast<double>(activation.bytes), {}};
    for (const std::string& layer : activation.layers) {
      release.groups.push_back(weight_group.at(layer));
    }
    whole.problem.releases.push_back(std::move(release));
  }
  whole.problem.fixed_bytes = static_cast<double>(trace.saved_bytes);
  whole.exact = totals_of(whole.problem, std::vector<std::size_t>(whole.gradients.size(), 0));
  whole.problem.fixed_bytes += correction.extra_bytes;  // of a plan, not of the exact step
  return whole;
}

}  // namespace hot::select
