#include "reports/compare.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/verdict.hpp"

namespace hot::reports {
namespace {

/// Both runs drew the same numbers, so that what has no interval can be compared as it is.
bool repeatable(const ModelInfo& a, const ModelInfo& b) {
  return a.seed == b.seed && a.inputs == b.inputs && a.batches == b.batches && a.loss == b.loss;
}

/// Metrics of both, where more or less is better.
std::vector<std::pair<const Metric*, const Metric*>> shared(const Metrics& a, const Metrics& b) {
  std::vector<std::pair<const Metric*, const Metric*>> both;
  for (const MetricInfo& info : metric_infos()) {
    const Metric* in_a = a.find(info.name);
    const Metric* in_b = b.find(info.name);
    if (in_a == nullptr || in_b == nullptr || info.better == Better::neither) continue;
    both.emplace_back(in_a, in_b);
  }
  return both;
}

void note_text(const char* what, const std::string& a, const std::string& b, Comparison& c) {
  if (a == b || (a.empty() || b.empty())) return;
  c.notes.push_back(fmt::format("{}: {} in A, {} in B", what, a, b));
}

/// Counts that say how both were measured.
void note_counts(const Metrics& a, const Metrics& b, Comparison& c) {
  for (const MetricInfo& info : metric_infos()) {
    const Metric* in_a = a.find(info.name);
    const Metric* in_b = b.find(info.name);
    if (info.unit != "count" || in_a == nullptr || in_b == nullptr) continue;
    if (in_a->value == in_b->value) continue;
    c.notes.push_back(fmt::format("{}: {} in A, {} in B", info.name, in_a->value, in_b->value));
  }
}

void note_facts(const Report& a, const Report& b, Comparison& c) {
  if (a.model.sha256 != b.model.sha256)
    c.notes.emplace_back("A and B are of different model files");
  const Environment& ea = a.environment;
  const Environment& eb = b.environment;
  note_text("version", ea.tool_version, eb.tool_version, c);
  note_text("device", ea.device, eb.device, c);
  note_text("CPU", ea.cpu, eb.cpu, c);
  if (ea.threads > 0 && eb.threads > 0) {
    note_text("threads", std::to_string(ea.threads), std::to_string(eb.threads), c);
  }
  note_text("torch", ea.torch, eb.torch, c);
  note_text("kernels", ea.kernels, eb.kernels, c);
  note_text("inputs", a.model.inputs, b.model.inputs, c);
  note_text("loss", a.model.loss, b.model.loss, c);
  if (!a.model.inputs.empty() && !b.model.inputs.empty()) {
    note_text("seed", std::to_string(a.model.seed), std::to_string(b.model.seed), c);
    note_text("minibatches", std::to_string(a.model.batches), std::to_string(b.model.batches), c);
  }
  if (a.plan && b.plan) note_text("policy", a.plan->policy, b.plan->policy, c);
  for (const auto& [name, report] : {std::pair{"A", &a}, std::pair{"B", &b}}) {
    if (report->interrupted) c.notes.push_back(fmt::format("{} was interrupted", name));
  }
}

const Scheme& scheme_of(const LayerPlan& layer, Path path) {
  return path == Path::grad_input ? layer.grad_input : layer.grad_weight;
}

/// The measured error of a pick; an exact gradient's is 0.
std::optional<Metric> error_of(const Report& report, const std::string& layer, Path path,
                               const Scheme& scheme) {
  if (!report.errors) return std::nullopt;
  if (scheme.is_exact()) {
    return Metric{&metric_info("relative_error"), 0, Origin::measured, std::nullopt};
  }
  const ErrorRow* row = report.errors->find(layer, path, scheme);
  const Metric* error = row == nullptr ? nullptr : row->metrics.find("relative_error");
  return error == nullptr ? std::nullopt : std::optional<Metric>(*error);
}

class Comparer {
 public:
  Comparer(const Report& a, const Report& b, const CompareOptions& options, Comparison& result)
      : a_(a),
        b_(b),
        options_(options),
        result_(result),
        repeatable_(repeatable(a.model, b.model)),
        same_model_(a.model.sha256 == b.model.sha256) {}

  void whole(const Metrics& a, const Metrics& b) {
    if (same_model_) drift_ = std::max(drift_, drift_of(a, b));
    for (const auto& [in_a, in_b] : shared(a, b)) {
      result_.whole.push_back(difference_of(*in_a, *in_b, options_, {repeatable_, drift_, 1}));
    }
    note_counts(a, b, result_);
  }

  void picks() {
    for (const LayerPlan& layer : a_.plan->layers) {
      const LayerPlan* other = b_.plan->find(layer.name);
      for (const Path path : {Path::grad_input, Path::grad_weight}) {
        if (other == nullptr) {
          result_.picks.push_back(
              {layer.name, path, to_string(scheme_of(layer, path)), "", std::nullopt});
        } else {
          pick(layer.name, path, scheme_of(layer, path), scheme_of(*other, path));
        }
      }
    }
    for (const LayerPlan& layer : b_.plan->layers) {
      if (a_.plan->find(layer.name) != nullptr) continue;
      for (const Path path : {Path::grad_input, Path::grad_weight}) {
        result_.picks.push_back(
            {layer.name, path, "", to_string(scheme_of(layer, path)), std::nullopt});
      }
    }
  }

  void verified_layers() {
    for (const LayerVerification& layer : a_.verification->layers) {
      const auto& others = b_.verification->layers;
      const auto other = std::find_if(others.begin(), others.end(),
                                      [&](const auto& l) { return l.name == layer.name; });
      if (other == others.end()) continue;
      const double drift =
          same_model_ ? std::max(drift_, drift_of(layer.metrics, other->metrics)) : 0;
      for (const auto& [in_a, in_b] : shared(layer.metrics, other->metrics)) {
        add(layer.name, "backward", "", *in_a, *in_b, drift);
      }
    }
  }

  /// Judges the layers' numbers, now that it is known how many they are.
  void judge_layers() {
    for (std::size_t i = 0; i < result_.layers.size(); ++i) {
      Difference& d = result_.layers[i].difference;
      d = difference_of(d.a, d.b, options_, {repeatable_, drifts_[i], result_.layers.size()});
    }
    if (drift_ > options_.tolerance) {
      result_.notes.push_back(fmt::format(
          "the exact pass, the same in both, took {:.0f} % more or less: a change of times must "
          "exceed that too",
          100 * drift_));
    }
  }

 private:
  void add(const std::string& layer, const std::string& path, const std::string& scheme,
           const Metric& a, const Metric& b, double drift = 0) {
    result_.layers.push_back({layer, path, scheme, {a, b, Change::same, std::nullopt}});
    drifts_.push_back(drift);
  }

  void pick(const std::string& layer, Path path, const Scheme& in_a, const Scheme& in_b) {
    ++result_.gradients;
    const auto error_a = error_of(a_, layer, path, in_a);
    const auto error_b = error_of(b_, layer, path, in_b);
    if (in_a == in_b) {
      if (error_a && error_b && !in_a.is_exact()) {
        add(layer, to_string(path), to_string(in_a), *error_a, *error_b);
      }
      return;
    }
    std::optional<Difference> error;
    if (error_a && error_b) {
      error = difference_of(*error_a, *error_b, options_, {repeatable_, 0, 1});
    }
    result_.picks.push_back({layer, path, to_string(in_a), to_string(in_b), error});
  }

  const Report& a_;
  const Report& b_;
  const CompareOptions& options_;
  Comparison& result_;
  bool repeatable_;
  bool same_model_;
  double drift_ = 0;            ///< of the whole model's times
  std::vector<double> drifts_;  ///< of each of result_.layers
};

}  // namespace

std::size_t Comparison::count(Change change) const {
  return static_cast<std::size_t>(std::count_if(
      whole.begin(), whole.end(), [&](const Difference& d) { return d.change == change; }));
}

Comparison compare(const Report& a, const std::string& name_a, const Report& b,
                   const std::string& name_b, const CompareOptions& options) {
  Comparison result;
  result.name_a = name_a;
  result.name_b = name_b;
  result.verdict_a = verdict_of(a).word;
  result.verdict_b = verdict_of(b).word;
  note_facts(a, b, result);
  Comparer comparer(a, b, options, result);
  if (a.verification && b.verification) {
    comparer.whole(a.verification->total, b.verification->total);
    comparer.verified_layers();
  }
  if (a.plan && b.plan) {
    comparer.whole(a.plan->predicted, b.plan->predicted);
    comparer.picks();
  }
  comparer.judge_layers();
  return result;
}

}  // namespace hot::reports
